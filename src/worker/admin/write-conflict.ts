/** What happens to a change when another comes between looking and writing: the database's guards refuse it, in words of their triggers. */
import { ApiError, causesOf } from "../errors.ts";

/** With these the database keeps a key's limits, and the order of decrees, whatever comes between. */
export const CONSTRAINT_MESSAGES = {
  keyHasLimits: "neither the key nor its plan has a limit",
  planKeepsLimits: "relies on the plan's limit",
  overridesInOrder: "a later ban override exists",
} as const;

export type ConstraintMessage = (typeof CONSTRAINT_MESSAGES)[keyof typeof CONSTRAINT_MESSAGES];

export function violates(guard: ConstraintMessage, thrown: unknown): boolean {
  return causesOf(thrown).some((cause) => String(cause).includes(guard));
}

/** The change; a conflict with this message where the guard refuses it. */
export async function conflictOn<T>(
  guard: ConstraintMessage,
  message: string,
  change: Promise<T>,
): Promise<T> {
  try {
    return await change;
  } catch (thrown) {
    if (violates(guard, thrown)) throw new ApiError("conflict", message);
    throw thrown;
  }
}
