/** Usage of the last two months as it is in life, as SQL: nothing else writes the past. Pure, and always the same. */
const DAY_SECONDS = 86_400;
const DAYS = 62;
/** How many days ago. */
const LAUNCH = [9, 8];
const OUTAGE = 16;
const BAN = 3;

/** How a key is used: the share of its day that it asks for, and when. `age` is 0 yesterday and 1 two months ago. */
const USES = {
  /** A customer who grows, in office hours. */
  grows: ({ age, isWeekend }) => (isWeekend ? 0.15 : 1) * (1 - 0.8 * age),
  /** A batch job, each night. */
  nightly: () => 0.4,
  /** A shop: more on weekends, a launch, and an outage of ten hours, after which all clients try again at once. */
  shop: ({ isWeekend, daysAgo }) => (isWeekend ? 0.5 : 0.3) * (LAUNCH.includes(daysAgo) ? 2.2 : 1),
  /** A program that somebody runs now and then, in a loop that does not wait. */
  hobby: ({ daysAgo, isWeekend }) => (isWeekend || daysAgo % 5 === BAN ? 0.45 : 0.04),
} satisfies Record<string, (day: Day) => number>;

/** How much of a day's requests comes in each hour, from midnight on. */
const HOURS: Readonly<Record<Use, readonly number[]>> = {
  grows: [0, 0, 0, 0, 0, 0, 1, 4, 9, 12, 13, 11, 7, 11, 12, 9, 6, 3, 1, 1, 0, 0, 0, 0],
  nightly: [0, 30, 40, 25, 5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
  shop: [1, 1, 0, 0, 0, 1, 2, 3, 4, 5, 6, 6, 7, 6, 5, 5, 6, 7, 9, 11, 10, 8, 5, 2],
  hobby: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 5, 15, 40, 25, 10, 5, 0],
};

type Day = { readonly daysAgo: number; readonly age: number; readonly isWeekend: boolean };
export type Use = keyof typeof USES;
export type UsedKey = {
  readonly id: string;
  readonly customer: { readonly id: string } | null;
  readonly plan: string;
  readonly use: Use;
  readonly limits: { readonly requestsPerMinute: number; readonly requestsPerDay: number };
};

/** The keys become as old as their usage. */
export function demoMonth(keys: readonly UsedKey[], nowMs: number): string[] {
  const today = Math.floor(nowMs / 1000 / DAY_SECONDS) * DAY_SECONDS;
  return keys.flatMap((key) => {
    const rows = Array.from({ length: DAYS }, (_, i) => rowOf(key, today, DAYS - i));
    const customer = textOf(key.customer);
    const ban = today - BAN * DAY_SECONDS + 19 * 3_600 + 12 * 60;
    return [
      `insert into usage (day, key_id, customer_id, plan, admitted, refused, refused_while_banned, limit_per_day, hours) values ${rows.join(", ")}`,
      `update api_keys set created_at = ${today - DAYS * DAY_SECONDS}, first_used_at = ${today - DAYS * DAY_SECONDS} where id = '${key.id}'`,
      ...(key.use === "hobby"
        ? [
            `insert into bans (id, key_id, cause, strikes, started_at, ends_at, customer_id) values ('ban_${key.id}_${ban}', '${key.id}', 'strikes', 20, ${ban}, ${ban + 300}, ${customer})`,
          ]
        : []),
    ];
  });
}

function rowOf(key: UsedKey, today: number, daysAgo: number): string {
  const start = today - daysAgo * DAY_SECONDS;
  const isWeekend = [0, 6].includes(new Date(start * 1000).getUTCDay());
  const { requestsPerMinute, requestsPerDay } = key.limits;
  // Days differ by up to a tenth, always in the same way.
  const share =
    USES[key.use]({ daysAgo, age: (daysAgo - 1) / DAYS, isWeekend }) * (0.9 + ((daysAgo * 37) % 20) / 100);
  let left = requestsPerDay;
  const hours = HOURS[key.use].map((percent, hour) => {
    const asked = Math.round((askedIn(key.use, daysAgo, hour, percent) * share * requestsPerDay) / 100);
    const byMinute =
      asked > 15 * requestsPerMinute || (key.use === "hobby" && percent === 40 && share > 0.3)
        ? Math.round(asked / 12)
        : 0;
    const byDay = Math.max(0, asked - byMinute - left);
    const admitted = asked - byMinute - byDay;
    left -= admitted;
    const byBan = key.use === "hobby" && daysAgo === BAN && hour === 19 ? 120 : 0;
    if (byMinute + byDay + byBan === 0) return admitted;
    const minutes = {
      ...(byMinute > 0 && { 11: { minute: byMinute } }),
      ...(byBan > 0 && { 12: { ban: 70 }, 13: { ban: 50 } }),
      ...(byDay > 0 && { 30: { day: byDay } }),
    };
    return [admitted, byMinute + byDay, byBan, minutes] as const;
  });
  const sums = [0, 1, 2].map((i) =>
    hours.reduce<number>((sum, each) => sum + Number([each].flat()[i] ?? 0), 0),
  );
  return `(${start}, '${key.id}', ${textOf(key.customer)}, '${key.plan}', ${sums.join(", ")}, ${requestsPerDay}, '${JSON.stringify(hours)}')`;
}

function askedIn(use: Use, daysAgo: number, hour: number, percent: number): number {
  if (use !== "shop" || daysAgo !== OUTAGE) return percent;
  if (hour >= 8 && hour < 18) return 0;
  return hour === 18 ? 25 : percent;
}

function textOf(customer: UsedKey["customer"]): string {
  return customer === null ? "null" : `'${customer.id}'`;
}
