/** What happens to a change when another comes between looking and writing: the database's guards refuse it, in words of their triggers. */
import { ApiError, causesOf } from "../errors.ts";

/** With these the database keeps a key's limits, and the order of decrees, whatever comes between. */
export const GUARDS = {
  keyHasLimits: "neither the key nor its plan has a limit",
  planKeepsLimits: "relies on the plan's limit",
  decreesInOrder: "a later decree stands",
} as const;

export type Guard = (typeof GUARDS)[keyof typeof GUARDS];

export function isRefusedBy(guard: Guard, thrown: unknown): boolean {
  return causesOf(thrown).some((cause) => String(cause).includes(guard));
}

/** The change; a conflict with this message where the guard refuses it. */
export async function guarded<T>(guard: Guard, message: string, change: Promise<T>): Promise<T> {
  try {
    return await change;
  } catch (thrown) {
    if (isRefusedBy(guard, thrown)) throw new ApiError("conflict", message);
    throw thrown;
  }
}
