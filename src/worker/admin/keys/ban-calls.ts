/** The calls that ban a key and lift its bans. */
import { banLifted, banRequest, banSet } from "../bans/schema.ts";
import { call } from "../call.ts";
import { banKey, liftBan, previewBan } from "./change/ban.ts";

export const keyBanCalls = {
  set: call({
    id: "bans.set",
    route: "PUT /keys/:id/ban",
    summary: "Ban a key",
    description: "Replaces the bans of the key that are live.",
    body: banRequest,
    answer: banSet,
    example: { seconds: 3600, reason: "Sends each order twice." },

    preview: previewBan,
    run: banKey,
  }),

  lift: call({
    id: "bans.lift",
    route: "DELETE /keys/:id/ban",
    summary: "Lift the bans of a key",
    description: "The next ban for seconds over the limit is not doubled because of a ban that was lifted.",
    answer: banLifted,

    run: liftBan,
  }),
};
