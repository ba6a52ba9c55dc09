/** The call of Prometheus: the figures of the service. Few series, and no name of a person. */
import * as v from "valibot";
import type { Bindings } from "../../context.ts";
import { openDatabase } from "../../db/database.ts";
import { BAN_CAUSES, KEY_STATES, PLAN_IDS } from "../../db/values.ts";
import { healthOf } from "../../key/health.ts";
import { logError } from "../../platform/log.ts";
import { DAY_SECONDS, nowSeconds, toUnixSeconds } from "../../text/time.ts";
import { receiverOf } from "../alerts/receiver.ts";
import { call, Rendered } from "../call.ts";
import { described } from "../http/answer-schemas.ts";
import { oneOf } from "../http/schemas.ts";
import { lastReports, type Reported } from "../usage/ask-limiters.ts";
import { countedUntil } from "../usage/service.ts";
import { ALL_KEYS, type Figures, listGroups, listPlansOfDay } from "../usage/sql.ts";
import { type Family, METRICS_MEDIA, type Media, metricsMedia, metricsText } from "./exposition.ts";
import { countKeysByState, countLiveBansByCause, listNearestCustomers } from "./sql.ts";

export const showMetrics = call({
  id: "metrics.show",
  route: "GET /metrics",
  summary: "Get figures for Prometheus",
  description:
    "Requests of the UTC day by plan and outcome, live bans, keys by status, alerts, and whether the parts can be reached. `store_orders_as_of_timestamp_seconds` says until when each metric counts. If the database cannot be reached, the answer has only `store_orders_up`. OpenMetrics, unless `Accept` asks for `text/plain; version=0.0.4`.",
  query: v.strictObject({
    keys: v.optional(
      described(
        oneOf(["top"]),
        "`top`: also the 10 keys and the 10 customers that come closest to their limit of the day, by id.",
      ),
    ),
  }),
  media: METRICS_MEDIA,
  answer: v.string(),
  run: async ({ env, query, accept }) => {
    const media = metricsMedia(accept);
    return new Rendered(await findMetrics(env, query.keys === "top", media), media);
  },
});

const TOP_KEYS = 10;
const NO_FIGURES: Figures = { admitted: 0, refused: 0, refusedWhileBanned: 0 };

/** Without the database there is still an answer, which says that the database cannot be reached. */
async function findMetrics(env: Bindings, withTopKeys: boolean, media: Media): Promise<string> {
  const now = nowSeconds();
  const [{ reached, outdatedKeys, unreportedKeys }, reported] = await Promise.all([
    healthOf(env),
    lastReports(env),
  ]);
  const gauge = gaugesAt(now);
  const up = gauge("up", "Whether the Worker can reach the part: 1 or 0.", reached, "part");
  if (!reached.database) return metricsText([up], now, media);
  const asked = [
    ...requestFamilies(env, now, reported, withTopKeys),
    ...stateFamilies(env, now),
    alertFamilies(env, gauge),
  ];
  // A query that fails takes no other figure along.
  const families = await Promise.all(
    asked.map((family) =>
      family.catch((thrown) => {
        logError("metric_not_read", thrown);
        return [];
      }),
    ),
  );
  const missing = "Keys whose latest usage may be missing, because their limiters could not report.";
  const keys = [
    gauge("outdated_keys", "Keys that a change has not reached yet.", outdatedKeys),
    ...(reached.limiter ? [gauge("unreported_keys", missing, unreportedKeys)] : []),
  ];
  return metricsText([up, ...keys, ...families.flat()], now, media);
}

/** Makes gauges of this moment: of one value, or of values by label. */
function gaugesAt(asOf: number) {
  type Value = number | boolean;
  return (name: string, help: string, of: Value | Readonly<Record<string, Value>>, label = ""): Family => ({
    ...{ name: `store_orders_${name}`, help, asOf },
    samples:
      typeof of === "object"
        ? Object.entries(of).map(([each, value]) => ({ labels: { [label]: each }, value: Number(value) }))
        : [{ value: Number(of) }],
  });
}

/**
 * Sums of the UTC day, which begin again at midnight. A copy of D1 could be behind its last answer, and a counter
 * that falls looks like a new day: the primary answers. No limiter is asked: a scrape each minute would keep
 * all of them awake.
 */
function requestFamilies(
  env: Bindings,
  now: number,
  reported: Reported,
  withTopKeys: boolean,
): Promise<Family[]>[] {
  const db = openDatabase(env.DB);
  const today = { fromSeconds: now - (now % DAY_SECONDS), toSeconds: now + 1 };
  const since = today.fromSeconds;
  const asOf = toUnixSeconds(Date.parse(countedUntil(today, reported)));
  const byPlan = async (): Promise<Family[]> => {
    const rows = await listPlansOfDay(db, since);
    const figuresOf = new Map(rows.map((row) => [row.plan, row]));
    return [
      {
        name: "store_orders_requests",
        help: "Requests with a valid key since midnight UTC, as far as the limiters have reported them.",
        asOf,
        since,
        samples: PLAN_IDS.flatMap((plan) => outcomesOf(figuresOf.get(plan) ?? NO_FIGURES, { plan })),
      },
    ];
  };
  const ofTopKeys = async (): Promise<Family[]> => {
    const page = { sort: "percent", direction: "desc", limit: TOP_KEYS } as const;
    const { rows } = await listGroups(db, ALL_KEYS, today, page, 1);
    const top = rows.slice(0, TOP_KEYS);
    return [
      {
        name: "store_orders_key_day_used_ratio",
        unit: "ratio",
        help: "Share of its limit of the UTC day that a key has used, of the keys that come closest.",
        asOf,
        samples: top.map(({ id: key, percent }) => ({ labels: { key }, value: percent / 100 })),
      },
      {
        name: "store_orders_key_day_requests",
        help: "Requests of these keys since midnight UTC.",
        asOf,
        samples: top.flatMap(({ id: key, ...figures }) => outcomesOf(figures, { key })),
      },
    ];
  };
  const ofTopCustomers = async (): Promise<Family[]> => {
    const rows = await listNearestCustomers(db, since, TOP_KEYS);
    return [
      {
        name: "store_orders_customer_day_used_ratio",
        unit: "ratio",
        help: "Share of its limit of the UTC day that a customer's keys have used, of the customers that come closest.",
        asOf,
        samples: rows.map(({ label: customer, count: value }) => ({ labels: { customer }, value })),
      },
    ];
  };
  return withTopKeys ? [byPlan(), ofTopKeys(), ofTopCustomers()] : [byPlan()];
}

function outcomesOf(
  { admitted, refused, refusedWhileBanned }: Figures,
  labels: Readonly<Record<string, string>>,
): Family["samples"] {
  const outcomes = { admitted, over_limit: refused, banned: refusedWhileBanned };
  return Object.entries(outcomes).map(([outcome, value]) => ({ labels: { ...labels, outcome }, value }));
}

function stateFamilies(env: Bindings, now: number): Promise<Family[]>[] {
  const db = openDatabase(env.DB);
  const family = async (
    about: Pick<Family, "name" | "help">,
    label: string,
    values: readonly string[],
    rows: ReturnType<typeof countKeysByState>,
  ): Promise<Family[]> => {
    const counts = new Map((await rows).map((row) => [row.label, row.count]));
    const samples = values.map((value) => ({ labels: { [label]: value }, value: counts.get(value) ?? 0 }));
    return [{ ...about, asOf: now, samples }];
  };
  const keys = { name: "store_orders_keys", help: "Keys by status." };
  const bans = { name: "store_orders_bans", help: "Bans that are live, by cause." };
  return [
    family(keys, "status", KEY_STATES, countKeysByState(db, now)),
    family(bans, "cause", BAN_CAUSES, countLiveBansByCause(db, now)),
  ];
}

/** None without a webhook. */
async function alertFamilies(env: Bindings, gauge: ReturnType<typeof gaugesAt>): Promise<Family[]> {
  const receiver = await receiverOf(env);
  if (receiver === null) return [];
  const { waiting, failing, state } = receiver;
  const help = "Alerts that wait for their first attempt (pending) or for another one (failing).";
  return [
    gauge("alerts", help, { pending: waiting - failing, failing }, "state"),
    gauge("alert_receiver_up", "Whether the receiver of the webhook accepts alerts: 1 or 0.", state === "ok"),
  ];
}
