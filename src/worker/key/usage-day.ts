/**
 * A key's usage of a UTC day in D1. Only this file reads and writes the JSON of the column `hours`: an element
 * for each hour from midnight until the last hour in use. A number counts the admitted requests if none was
 * refused. An array has the admitted requests, the refused requests, the requests refused while banned, and
 * the refusals of each minute by window, as in `[60,12,0,{"42":{"minute":12}}]`.
 */
import { type SQL, sql } from "drizzle-orm";
import type { CredentialUse, HourUsage } from "hono-durable-limiter";
import { SECRET_ID_CHARS } from "./key.ts";
import { planAt } from "./key-state-sql.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

export function dayMsOf(atMs: number): number {
  return atMs - (atMs % DAY_MS);
}

/** SQL of an hour. The query must have `from json_each(u.hours) e`, and `e.key` is the hour of the day. */
export const HOUR_SQL = {
  admitted: sql`iif(e.type = 'integer', e.value, e.value ->> 0)`,
  refused: sql`iif(e.type = 'integer', 0, e.value ->> 1)`,
  refusedWhileBanned: sql`iif(e.type = 'integer', 0, e.value ->> 2)`,
  /** JSON for `readMinutes`. NULL: there are no refusals. */
  minutes: sql`iif(e.type = 'integer', null, e.value -> 3)`,
};

const HOURS = Array.from({ length: 24 }, (_, hour) => sql.raw(String(hour)));
const HAS_REFUSALS = sql`u.refused + u.refused_while_banned > 0`;

/** A JSON array of the sums of each hour of days `u`. */
function sumsOfHours(figure: (hour: SQL) => SQL): SQL {
  return sql`json_array(${sql.join(
    HOURS.map((hour) => sql`coalesce(sum(${figure(hour)}), 0)`),
    sql`, `,
  )})`;
}

export const SUMS_OF_HOURS = {
  admitted: sumsOfHours(
    (hour) =>
      sql`iif(${HAS_REFUSALS}, coalesce(u.hours ->> '$[${hour}][0]', u.hours ->> '$[${hour}]'), u.hours ->> '$[${hour}]')`,
  ),
  refused: sumsOfHours((hour) => sql`iif(${HAS_REFUSALS}, u.hours ->> '$[${hour}][1]', 0)`),
  refusedWhileBanned: sumsOfHours((hour) => sql`iif(${HAS_REFUSALS}, u.hours ->> '$[${hour}][2]', 0)`),
};

/** The refusals of a minute of an hour, by what refused them. */
type Minute = { readonly minute: number; readonly by: Readonly<Record<string, number>> };

export function readMinutes(json: string | null): Minute[] {
  // `hoursOf` made this text.
  const minutes = JSON.parse(json ?? "{}") as Record<string, Minute["by"]>;
  return Object.entries(minutes).map(([minute, by]) => ({ minute: Number(minute), by }));
}

/**
 * Merges the hours into the day's row. The first report of a day says whose the day is, and under which plan. The
 * update is in place and touches no index. A report without a new request is an earlier report, so it does not
 * change the limit either.
 */
export function upsertDay(
  keyId: string,
  dayMs: number,
  hours: readonly HourUsage[],
  credentials: readonly CredentialUse[],
): SQL {
  const limitPerDay = hours.at(-1)?.limits.day;
  if (limitPerDay === undefined) throw new Error("the policy has no window day");
  const day = dayMs / 1000;
  const secrets = credentials.map((each) => [each.hash.slice(0, SECRET_ID_CHARS), each.lastUsedMs / 1000]);
  const { admitted, refused, refusedWhileBanned, minutes } = HOUR_SQL;
  const figuresIn = (json: SQL) => sql`(
    select e.key as hour, ${admitted} as admitted, ${refused} as refused, ${refusedWhileBanned} as refused_while_banned,
      ${minutes} as minutes from json_each(${json}) e)`;
  const ofKey = (value: SQL) => sql`(select ${value} from api_keys k where k.id = ${keyId})`;
  const most = (name: string) =>
    sql.raw(`max(coalesce(old.${name}, 0), coalesce(new.${name}, 0)) as ${name}`);
  return sql`
    insert into usage (day, key_id, customer_id, plan, admitted, refused, refused_while_banned, limit_per_day, secrets, hours)
    select ${day}, ${keyId}, ${ofKey(sql`k.customer_id`)}, coalesce(${ofKey(planAt(day))}, ''), sum(admitted), sum(refused), sum(refused_while_banned), ${limitPerDay},
      ${JSON.stringify(Object.fromEntries(secrets))},
      json_group_array(json(iif(refused + refused_while_banned = 0, admitted,
        json_array(admitted, refused, refused_while_banned, json(minutes)))) order by hour)
    from (
      select hour, ${most("admitted")}, ${most("refused")}, ${most("refused_while_banned")},
        iif(coalesce(new.refused + new.refused_while_banned, 0) < coalesce(old.refused + old.refused_while_banned, 0),
          old.minutes, new.minutes) as minutes
      from ${figuresIn(sql`(select hours from usage where day = ${day} and key_id = ${keyId})`)} old
      full join ${figuresIn(sql`${JSON.stringify(hoursOf(dayMs, hours))}`)} new using (hour))
    where true
    on conflict (day, key_id) do update set admitted = excluded.admitted, refused = excluded.refused,
      refused_while_banned = excluded.refused_while_banned, limit_per_day = excluded.limit_per_day, secrets = excluded.secrets, hours = excluded.hours
    where excluded.admitted + excluded.refused + excluded.refused_while_banned > admitted + refused + refused_while_banned`;
}

/** Returns the value of the column `hours`, from midnight until the last of these hours. */
function hoursOf(dayMs: number, hours: readonly HourUsage[]) {
  const figures = new Map(
    hours.map(({ startMs, admitted, refused, refusedWhileBanned, refusedMinutes }) => {
      const minutes = Object.fromEntries(refusedMinutes.map(({ minute, by }) => [minute, by]));
      const isRefused = refusedMinutes.length > 0;
      return [startMs, isRefused ? [admitted, refused, refusedWhileBanned, minutes] : admitted] as const;
    }),
  );
  const lastMs = Math.max(...figures.keys());
  return Array.from(
    { length: (lastMs - dayMs) / HOUR_MS + 1 },
    (_, i) => figures.get(dayMs + i * HOUR_MS) ?? 0,
  );
}
