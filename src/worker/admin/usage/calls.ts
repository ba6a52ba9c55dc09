/** The calls about usage: of a range by hour, day, key, owner or plan, and of one key. */
import { call } from "../call.ts";
import { columnsOf } from "../http/csv.ts";
import { keyUsageAnswer, keyUsageQuery, USAGE_ROWS, usageAnswer, usageQuery } from "./schema.ts";
import { findUsage, findUsageOfKey } from "./service.ts";

const RANGE = {
  from: "2026-11-21T00:00:00Z",
  to: "2026-11-21T11:00:00Z",
};
const FIGURES = { admitted: 412, refused: 12, refusedWhileBanned: 0 };

export const usageCalls = {
  list: call({
    id: "usage.list",
    route: "GET /usage",
    summary: "Show the usage of a range",
    description:
      "By hour, day, key, owner or plan. Without `from` the range begins at midnight, without `to` it ends now; it is rounded out to whole days, or by hour to whole hours. A limiter reports the first request of a day, whenever the day's figures have grown by a quarter, and once an hour. `sort=near` begins with those who come closest to their limit of the day.",
    query: usageQuery,
    answer: usageAnswer,
    example: {
      answer: {
        ...RANGE,
        by: "key",
        asOf: "2026-11-21T10:50:07Z",
        unreachable: [],
        rows: [
          {
            keyId: "key_0C8yRw3mQz1T",
            keyName: "Backend of Pet Shop",
            ownerName: "Pet Shop",
            ownerEmail: "ops@petshop.example",
            plan: "pro",
            limits: { requestsPerMinute: 300, requestsPerDay: 10_000 },
            percent: 4.1,
            daysNear: 0,
            medianPercent: 4.1,
            peakPercent: 4.1,
            ...FIGURES,
          },
        ],
        total: { keyCount: 1, ...FIGURES },
        next: null,
      },
    },

    run: ({ env, query }) => findUsage(env, query),
    table: ({ by, from, rows, next }) => ({
      file: `usage-by-${by}-${from.slice(0, 10)}`,
      columns: columnsOf(USAGE_ROWS[by]),
      rows,
      next,
    }),
  }),
};

export const keyUsageCalls = {
  usage: call({
    id: "keys.usage",
    route: "GET /keys/:id/usage",
    summary: "Show the usage of a key",
    description:
      "The key's limiter reports first, so that the figures are of this moment. By hour, each minute with refusals says by what and how many.",
    query: keyUsageQuery,
    answer: keyUsageAnswer,
    example: {
      answer: {
        keyId: "key_0C8yRw3mQz1T",
        ...RANGE,
        by: "hour",
        asOf: "2026-11-21T10:50:07Z",
        unreachable: [],
        rows: [
          {
            start: "2026-11-21T10:00:00Z",
            ...FIGURES,
            refusedMinutes: [{ at: "2026-11-21T10:42:00Z", by: { minute: 12 } }],
          },
        ],
        total: FIGURES,
      },
    },

    run: ({ env, id, query }) => findUsageOfKey(env, id, query),
    table: ({ keyId, by, from, rows }) => ({
      file: `usage-${keyId}-by-${by}-${from.slice(0, 10)}`,
      columns: columnsOf(USAGE_ROWS[by]),
      rows,
    }),
  }),
};
