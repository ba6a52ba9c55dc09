/** Query and answer of `GET /admin/find`. */
import * as v from "valibot";
import { described } from "../http/answer-schemas.ts";
import { soughtText } from "../http/text-schemas.ts";

export const findQuery = v.strictObject({
  text: described(
    v.pipe(soughtText, v.trim(), v.minLength(1, "must not be empty")),
    "A part of a name, e-mail address or note; an id; the end of a secret; or the id of a secret, the first 16 digits of its SHA-256.",
  ),
});

/** The form in which lists show a secret. */
export const IS_MASKED = /^(?:sok_\w*)?(?:…|\.{3})\w{4}$/;

const foundThing = v.strictObject({
  kind: v.picklist(["key", "customer", "order", "cancelled", "link"]),
  id: described(v.string(), "Of a link, that of its customer."),
  name: v.string(),
  detail: v.string(),
});
export type FoundThing = v.InferOutput<typeof foundThing>;

export const foundThings = v.strictObject({
  found: described(v.array(foundThing), "First what the text names, if it is an id."),
});
