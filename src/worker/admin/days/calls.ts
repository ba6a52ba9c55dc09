/** What happened on a day to a key, or to the keys of a customer: audit log, bans, cancels and usage as a line of time. */
import * as v from "valibot";
import type { Bindings } from "../../context.ts";
import { openDatabase } from "../../db/database.ts";
import { windowInWords } from "../../key/windows.ts";
import { counted, formatNumber } from "../../text/format.ts";
import { DAY_SECONDS, HOUR_SECONDS, nowSeconds, rfc3339 } from "../../text/time.ts";
import { listAudit } from "../audit/sql.ts";
import { listBans } from "../bans/sql.ts";
import { call } from "../call.ts";
import { requireCustomer } from "../customers/sql.ts";
import { dateTime, described } from "../http/answer-schemas.ts";
import { hasBegun, MAX_PAGE_SIZE, range } from "../http/schemas.ts";
import { requireKey } from "../keys/sql.ts";
import { STRIKES_REASON, saysOf } from "../says.ts";
import {
  answered,
  type HourUsageView,
  type RefusedMinuteView,
  unreachable,
  usageTotal,
} from "../usage/schema.ts";
import { findUsage, toHourUsage } from "../usage/service.ts";
import { listHoursOfKeys } from "../usage/sql.ts";
import { listCancels, listKeyNames, listSecretUses } from "./sql.ts";

const dayQuery = v.strictObject({
  at: described(
    v.optional(v.pipe(range.from.wrapped, hasBegun)),
    "A day, or a time such as `yesterday 14:00`: then the hours around it. By default today.",
  ),
});

const dayEvent = v.strictObject({
  at: dateTime,
  until: described(v.nullable(dateTime), "When it ended or ends. Null: it was a moment."),
  kind: v.picklist(["refused", "ban", "change", "cancel", "secret"]),
  keyId: described(v.nullable(v.string()), "Null: a change of the customer."),
  keyName: v.nullable(v.string()),
  orderId: described(v.nullable(v.string()), "The order that was cancelled."),
  says: v.string(),
});
export type DayEvent = v.InferOutput<typeof dayEvent>;

export const dayAnswer = v.strictObject({
  ...answered,
  total: v.strictObject(usageTotal),
  events: described(
    v.array(dayEvent),
    "In the order of time. Minutes in a row with the same refusals are one.",
  ),
  hasMore: described(v.boolean(), "Whether there were more bans, changes or cancels than these."),
  unreachable,
});

const common = {
  description:
    "In the order of time: the minutes in which requests were refused and by which limit, bans, changes by operators, orders that the keys cancelled, and the last use of each secret on that day.",
  query: dayQuery,
  answer: dayAnswer,
};

export const dayCalls = {
  key: call({
    id: "keys.day",
    route: "GET /keys/:id/day",
    summary: "Show a day of a key",
    ...common,
    run: async ({ env, id, query }) =>
      findDay(env, { key: (await requireKey(openDatabase(env.DB), id)).id }, query),
  }),

  customer: call({
    id: "customers.day",
    route: "GET /customers/:id/day",
    summary: "Show a day of a customer's keys",
    ...common,
    run: async ({ env, id, query }) =>
      findDay(env, { customer: (await requireCustomer(openDatabase(env.DB), id)).id }, query),
  }),
};

type Whose = { readonly key: string } | { readonly customer: string };

async function findDay(
  env: Bindings,
  whose: Whose,
  { at = nowSeconds() - (nowSeconds() % DAY_SECONDS) }: v.InferOutput<typeof dayQuery>,
): Promise<v.InferOutput<typeof dayAnswer>> {
  const isDay = at % DAY_SECONDS === 0;
  const [from, to] = isDay ? [at, at + DAY_SECONDS] : [at - HOUR_SECONDS / 2, at + HOUR_SECONDS / 2];
  // Limiters report first.
  const {
    by: _,
    rows: __,
    next: ___,
    ...about
  } = await findUsage(env, { ...whose, by: "hour", from, to, limit: MAX_PAGE_SIZE });
  const db = openDatabase(env.DB);
  const range = { from: Date.parse(about.from) / 1000, to: Date.parse(about.to) / 1000 };
  const filter = { ...whose, fromSeconds: range.from, toSeconds: range.to };
  const names = await listKeyNames(db, filter);
  const objects = [...names.keys(), ...("customer" in whose ? [whose.customer] : [])];
  const page = { ...range, limit: MAX_PAGE_SIZE };
  const [hours, secrets, cancels, { bans, next: moreBans }, { audit, next: moreChanges }] = await Promise.all(
    [
      listHoursOfKeys(db, filter),
      listSecretUses(db, filter),
      listCancels(db, [...names.keys()], filter, MAX_PAGE_SIZE + 1),
      listBans(db, { ...whose, ...page, state: "all" }, nowSeconds()),
      listAudit(db, { ...page, objects }),
    ],
  );
  const nameOf = (id: string) => names.get(id) ?? id;
  const ofKey = (keyId: string) => ({ keyId, keyName: nameOf(keyId) });
  const events: (Omit<DayEvent, "orderId"> & Partial<DayEvent>)[] = [
    ...[...Map.groupBy(hours, ({ keyId }) => keyId)].flatMap(([keyId, rows]) =>
      spansOf(rows.map((row) => toHourUsage(row.start, row))).map((span) => ({ ...span, ...ofKey(keyId) })),
    ),
    // A ban by an operator is a change, too.
    ...bans
      .filter(({ cause, startedAt }) => cause === "strikes" || startedAt < about.from)
      .map(({ keyId, startedAt, endsAt, liftedAt, reason, strikes }) => {
        const says = `banned: ${reason ?? `${STRIKES_REASON}, in ${counted(strikes, "second")}`}`;
        return { at: startedAt, until: liftedAt ?? endsAt, kind: "ban" as const, ...ofKey(keyId), says };
      }),
    ...audit.map((entry) => {
      const key = names.has(entry.object) ? ofKey(entry.object) : { keyId: null, keyName: null };
      return {
        at: entry.at,
        until: null,
        kind: "change" as const,
        ...key,
        says: `${entry.actor}: ${saysOf(entry)}`,
      };
    }),
    ...cancels.slice(0, MAX_PAGE_SIZE).map(({ keyId, orderId, at }) => {
      const says = `cancelled order ${orderId}`;
      return { at: rfc3339(at), until: null, kind: "cancel" as const, ...ofKey(keyId), orderId, says };
    }),
    ...secrets.map((use) => {
      const says = `last request of this day with the secret ${use.hint}`;
      return { at: rfc3339(use.at), until: null, kind: "secret" as const, ...ofKey(use.keyId), says };
    }),
  ];
  const inOrder = events.toSorted((a, b) => a.at.localeCompare(b.at));
  return {
    ...about,
    events: inOrder.map((event) => ({ orderId: null, ...event })),
    hasMore: cancels.length > MAX_PAGE_SIZE || (moreBans ?? moreChanges) !== null,
  };
}

type Span = Pick<DayEvent, "at" | "until" | "kind" | "says">;

/** Joins minutes in a row that were refused by the same limits or bans. */
function spansOf(hours: readonly HourUsageView[]): Span[] {
  const spans: RefusedMinuteView[][] = [];
  for (const minute of hours.flatMap(({ refusedMinutes }) => refusedMinutes)) {
    const span = spans.at(-1);
    const last = span?.at(-1);
    const isNext = last !== undefined && Date.parse(minute.at) - Date.parse(last.at) === 60_000;
    if (span && isNext && causesOf(last) === causesOf(minute)) span.push(minute);
    else spans.push([minute]);
  }
  return spans.flatMap((minutes) => {
    const [first, last] = [minutes[0], minutes.at(-1)];
    if (first === undefined || last === undefined) return [];
    const says = Object.keys(first.by).map((name) => {
      const count = minutes.reduce((sum, { by }) => sum + (by[name] ?? 0), 0);
      return `${formatNumber(count)} refused by ${name === "ban" ? "a ban" : `the limit ${windowInWords(name)}`}`;
    });
    const until = rfc3339(Date.parse(last.at) / 1000 + 60);
    return [{ at: first.at, until, kind: "refused" as const, says: says.join(", ") }];
  });
}

function causesOf({ by }: RefusedMinuteView): string {
  return Object.keys(by).sort().join();
}
