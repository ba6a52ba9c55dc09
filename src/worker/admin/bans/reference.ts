/** What the reference says of `/admin/bans` and `/admin/keys/{id}/ban`. */
import type * as v from "valibot";
import { describe, type Reference } from "../http/describe.ts";
import { banLifted, banPage, banSet, type banView } from "./schema.ts";

export const BAN: v.InferInput<typeof banView> = {
  id: "ban_0b7c2f3e-6a55-4a4e-9d0c-2f4f1f1f9a10",
  keyId: "key_0C8yRw3mQz1T",
  keyName: "Backend of Pet Shop",
  cause: "operator",
  reason: "Sends each order twice.",
  strikes: 0,
  startedAt: "2026-11-21T10:00:00Z",
  endsAt: "2026-11-21T11:00:00Z",
  liftedAt: null,
  liftedBy: null,
  live: true,
};

export const banReference: Reference = {
  "GET /bans": describe({
    id: "bans.list",
    summary: "List bans",
    description:
      "The ban that began last comes first. With `state=live` the ban that ends last comes first, with `state=past` the ban that ended last.",
    answer: banPage,
    example: { bans: [BAN], next: null },
  }),
  "PUT /keys/:id/ban": describe({
    id: "bans.set",
    summary: "Ban a key",
    description: "Replaces the bans of the key that are live.",
    body: { example: { seconds: 3600, reason: "Sends each order twice." } },
    answer: banSet,
    example: { version: 4, ban: BAN, replaced: [], effective: "immediately" },
    etag: true,
  }),
  "DELETE /keys/:id/ban": describe({
    id: "bans.lift",
    summary: "Lift the bans of a key",
    description: "The next ban for strikes is not doubled because of a ban that was lifted.",
    answer: banLifted,
    example: {
      version: 5,
      lifted: { ...BAN, liftedAt: "2026-11-21T10:20:00Z", liftedBy: "mo", live: false },
      effective: "immediately",
    },
    etag: true,
  }),
};
