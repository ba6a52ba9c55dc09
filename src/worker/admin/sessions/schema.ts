/** Answers of `/admin/sessions`. */
import * as v from "valibot";
import { dateTime, described, says } from "../http/answer-schemas.ts";

export const sessionView = v.strictObject({
  id: described(v.string(), "Names the session, and opens nothing."),
  operator: described(v.nullable(v.string()), "The name that was typed. Null: none."),
  since: dateTime,
  lastUsedAt: described(dateTime, "Up to five minutes before the last request."),
  endsAt: described(dateTime, "Two hours after the last request, it ends sooner."),
});
export type SessionView = v.InferOutput<typeof sessionView>;

export const sessionList = v.strictObject({ sessions: v.array(sessionView) });
export const endedSession = v.strictObject({ ...sessionView.entries, says });
