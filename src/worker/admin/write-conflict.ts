/** Write conflicts: a constraint refuses a change because another one was written after the row was read. */
import { isRefusedBy } from "../db/database.ts";
import { conflict } from "../errors.ts";

/** The constraint in migrations/ that a change violates if it would leave a key without a limit. */
const LIMITS_OF_KEYS = "plans_limits_of_keys";

/** The result of the change. Throws a 409 with this message if a key would have been left without a limit. */
export async function conflictOnMissingLimit<T>(message: string, change: Promise<T>): Promise<T> {
  try {
    return await change;
  } catch (thrown) {
    if (isRefusedBy(LIMITS_OF_KEYS, thrown)) throw conflict(message);
    throw thrown;
  }
}
