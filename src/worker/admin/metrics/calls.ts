/** The call of Prometheus. */

import * as v from "valibot";
import { call, Rendered } from "../call.ts";
import { described } from "../http/answer-schemas.ts";
import { oneOf } from "../http/schemas.ts";
import { METRICS_MEDIA, metricsMedia } from "./exposition.ts";
import { findMetrics } from "./service.ts";

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
