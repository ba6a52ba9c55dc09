/** What the reference says of `/admin/audit`. */
import type * as v from "valibot";
import { describe, type Reference } from "../http/describe.ts";
import { auditPage, type auditView } from "./schema.ts";

export const ENTRY: v.InferInput<typeof auditView> = {
  id: 118,
  at: "2026-11-21T10:00:00Z",
  requestId: "8fb8fa07-53c3-4d2f-a4a0-5a7a0e2a5d5b",
  actor: "mo",
  call: "keys.update",
  object: "key_0C8yRw3mQz1T",
  before: { requestsPerMinute: null },
  after: { requestsPerMinute: 600 },
};

export const auditReference: Reference = {
  "GET /audit": describe({
    id: "audit.list",
    summary: "List changes by operators",
    description: "Newest first.",
    answer: auditPage,
    example: { audit: [ENTRY], next: null },
  }),
};
