/** The precondition of a change: the version of the key, plan or order that the operator has seen. Pure. */
import { ApiError } from "../errors.ts";

export function toEtag({ version }: { readonly version: number }): string {
  return `"${version}"`;
}

/** Throws a 412 with the present state, of which `json` is the text, if its version is not the expected one. */
export function requireVersion(
  current: { readonly version: number },
  expected: number | undefined,
  json = JSON.stringify(current),
): void {
  if (expected === undefined || current.version === expected) return;
  throw new ApiError(
    "changed_meanwhile",
    "It was changed meanwhile, so this change was not made. Look at it as it is now, and try again.",
    { headers: { ETag: toEtag(current) }, members: { current: json } },
  );
}
