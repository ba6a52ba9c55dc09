/** What the reference says of `/admin/customers`. */
import { describe, type Reference } from "../http/describe.ts";
import { customerPage } from "./schema.ts";

export const customerReference: Reference = {
  "GET /customers": describe({
    id: "customers.list",
    summary: "List the customers",
    description:
      "The owners of keys, and how close they come to their limits of the day, over 1, 7 or 30 days.",
    answer: customerPage,
    example: {
      days: 30,
      from: "2026-10-23T00:00:00Z",
      to: "2026-11-21T11:00:00Z",
      asOf: "2026-11-21T09:00:00Z",
      customers: [
        {
          owner: "Pet Shop",
          ownerEmail: "ops@petshop.example",
          plans: ["pro"],
          keyCount: 2,
          admitted: 214_000,
          refused: 318,
          refusedWhileBanned: 0,
          medianPercent: 71.3,
          peakPercent: 100,
          peakDay: "2026-11-14",
          daysNear: 9,
          daysRefused: 4,
          bans: 0,
        },
      ],
      next: null,
    },
    csv: true,
  }),
};
