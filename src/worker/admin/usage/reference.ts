/** What the reference says of `/admin/usage` and `/admin/keys/{id}/usage`. */
import * as v from "valibot";
import type { Reference } from "../http/describe.ts";

const usage = v.looseObject({});

export const usageReference: Reference = {
  "GET /usage": { id: "usage.list", summary: "Show usage", answer: usage, example: {}, csv: true },
  "GET /keys/:id/usage": {
    id: "keys.usage",
    summary: "Show the usage of a key",
    answer: usage,
    example: {},
    csv: true,
  },
};
