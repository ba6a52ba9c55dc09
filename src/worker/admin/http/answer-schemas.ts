/** Parts of the schemas of answers. They make the reference, and a test compares real answers with them. */
import * as v from "valibot";
import { KEY_STATES } from "../../db/values.ts";

/** The reference shows the text beside the member. */
export function described<Schema extends v.GenericSchema>(schema: Schema, text: string) {
  return v.pipe(schema, v.description(text));
}

export const dateTime = v.pipe(v.string(), v.isoTimestamp());
export const count = v.pipe(v.number(), v.integer(), v.minValue(0));
export const limitOrNull = v.nullable(v.pipe(v.number(), v.integer(), v.minValue(1)));
/** A window of a limiter at this moment. */
export const liveWindow = v.strictObject({ limit: count, used: count, remaining: count, resetsAt: dateTime });
export const limitsInForce = v.strictObject({ requestsPerMinute: count, requestsPerDay: count });
export const keyStatus = described(
  v.picklist(KEY_STATES),
  "`expired` is an active key past its expiry, `banned` one with a live ban.",
);
export type KeyStatus = v.InferOutput<typeof keyStatus>;
/** A customer beside a key, a ban or a sum. */
export const shownCustomer = v.strictObject({
  id: v.string(),
  name: described(v.string(), "Of an erased customer: the id."),
  email: v.nullable(v.string()),
});
export type ShownCustomer = v.InferOutput<typeof shownCustomer>;
export const version = described(count, "Send it as `If-Match`, in quotes.");
export const next = described(
  v.nullable(v.string()),
  "Send it as `after` to get the next page. Null on the last page.",
);
export const effective = v.pipe(
  v.string(),
  v.picklist(["immediately", "within minutes"]),
  v.description("When the change takes effect."),
);
export const says = described(v.string(), "What the change did, for people. The text may change.");
