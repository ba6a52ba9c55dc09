/** Write conflicts: a trigger refuses a change because another one was written after the row was read. */
import { causesOf, conflict } from "../errors.ts";

/** The messages of the triggers in migrations/, by which their errors are recognised. */
export const CONSTRAINT_MESSAGES = {
  keyHasLimits: "neither the key nor its plan has a limit",
  planKeepsLimits: "relies on the plan's limit",
} as const;

type ConstraintMessage = (typeof CONSTRAINT_MESSAGES)[keyof typeof CONSTRAINT_MESSAGES];

function violates(constraint: ConstraintMessage, thrown: unknown): boolean {
  return causesOf(thrown).some((cause) => String(cause).includes(constraint));
}

/** The result of the change. Throws a 409 with this message if the constraint refused it. */
export async function conflictOn<T>(
  constraint: ConstraintMessage,
  message: string,
  change: Promise<T>,
): Promise<T> {
  try {
    return await change;
  } catch (thrown) {
    if (violates(constraint, thrown)) throw conflict(message);
    throw thrown;
  }
}
