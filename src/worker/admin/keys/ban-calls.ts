/** The calls that ban a key and lift its bans. */
import { banLifted, banRequest, banSet } from "../bans/schema.ts";
import { call } from "../call.ts";
import { BAN } from "../examples.ts";
import { banKey, liftBan, previewBan } from "./change/ban.ts";

export const keyBanCalls = {
  set: call({
    id: "bans.set",
    route: "PUT /keys/:id/ban",
    summary: "Ban a key",
    description: "Replaces the bans of the key that are live.",
    body: banRequest,
    answer: banSet,
    example: {
      body: { seconds: 3600, reason: "Sends each order twice." },
      answer: {
        ...{ version: 120, ban: BAN, replaced: [], effective: "immediately" },
        says: "Backend of Pet Shop is banned until 21 Nov 2026, 11:00 UTC: Sends each order twice.",
      },
    },

    preview: previewBan,
    run: banKey,
  }),

  lift: call({
    id: "bans.lift",
    route: "DELETE /keys/:id/ban",
    summary: "Lift the bans of a key",
    description: "The next ban for seconds over the limit is not doubled because of a ban that was lifted.",
    answer: banLifted,
    example: {
      answer: {
        version: 121,
        lifted: { ...BAN, liftedAt: "2026-11-21T10:20:00Z", liftedBy: "mo", live: false },
        effective: "immediately",
        says: "Backend of Pet Shop is no longer banned; the ban would have ended on 21 Nov 2026, 11:00 UTC.",
      },
    },

    run: liftBan,
  }),
};
