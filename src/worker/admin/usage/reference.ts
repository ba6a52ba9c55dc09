/** What the reference says of `/admin/usage` and `/admin/keys/{id}/usage`. */
import { describe, type Reference } from "../http/describe.ts";
import { keyUsageAnswer, usageAnswer } from "./schema.ts";

const RANGE = {
  from: "2026-11-21T00:00:00Z",
  to: "2026-11-21T11:00:00Z",
};
const FIGURES = { admitted: 412, refused: 12, refusedWhileBanned: 0 };

export const usageReference: Reference = {
  "GET /usage": describe({
    id: "usage.list",
    summary: "Show the usage of a range",
    description:
      "By hour, day, key, owner or plan. Without `from` the range begins at midnight, without `to` it ends now; it is rounded out to whole hours. A limiter reports an hour in the next one, so the figures of all keys are at most two hours old.",
    answer: usageAnswer,
    example: {
      ...RANGE,
      by: "key",
      asOf: "2026-11-21T09:00:00Z",
      rows: [
        {
          keyId: "key_0C8yRw3mQz1T",
          keyName: "Backend of Pet Shop",
          ownerName: "Pet Shop",
          ownerEmail: "ops@petshop.example",
          plan: "pro",
          limits: { requestsPerMinute: 300, requestsPerDay: 10_000 },
          percent: 4.1,
          ...FIGURES,
        },
      ],
      total: { keyCount: 1, ...FIGURES },
      next: null,
    },
    csv: true,
  }),
  "GET /keys/:id/usage": describe({
    id: "keys.usage",
    summary: "Show the usage of a key",
    description:
      "The key's limiter reports first, so that the figures are of this moment. By hour, each minute with refusals says by what and how many.",
    answer: keyUsageAnswer,
    example: {
      keyId: "key_0C8yRw3mQz1T",
      ...RANGE,
      by: "hour",
      asOf: "2026-11-21T10:50:07Z",
      rows: [
        {
          start: "2026-11-21T10:00:00Z",
          ...FIGURES,
          refusedMinutes: [{ at: "2026-11-21T10:42:00Z", by: { minute: 12 } }],
        },
      ],
      total: FIGURES,
    },
    csv: true,
  }),
};
