/** What an operator changed in a form, and what others changed meanwhile. Pure. */
import { mayBeMade, Problem } from "./problem.ts";

type Identified = { readonly id: string };

/**
 * The members that differ. Only they are sent, so that a change which another operator made meanwhile stays. Those in `tried` are sent
 * again: an earlier try can have changed them although its answer was lost.
 */
export function changedMembers<T extends object>(
  before: T,
  after: T,
  tried: ReadonlySet<string> = new Set(),
): Partial<T> {
  const changed = Object.entries(after).filter(
    ([name, value]) => value !== before[name as keyof T] || tried.has(name), // both have the members of T
  );
  // Some members of a T.
  return Object.fromEntries(changed) as Partial<T>;
}

/** The answer of a change. If it fails in a way that does not say that nothing was changed, the members that were sent are `tried`. */
export async function tryMembers<T>(answer: Promise<T>, sent: object, tried: Set<string>): Promise<T> {
  try {
    return await answer;
  } catch (thrown) {
    if (mayBeMade(thrown)) for (const name of Object.keys(sent)) tried.add(name);
    throw thrown;
  }
}

/**
 * How it is just before a change, to compare it. If the form was left meanwhile, it throws the reason of the signal, so that the change is
 * not sent.
 */
export async function lookBeforeChange<T>(load: () => Promise<T>, left: AbortSignal): Promise<T> {
  try {
    return await load();
  } finally {
    left.throwIfAborted();
  }
}

export const OPEN_AGAIN =
  "This try did nothing. Close the dialog and open it again to see the present state, then decide again.";

/** Throws a conflict if what a dialog has shown since it was opened is not so any more. */
export function requireSame<T>(shown: T, now: T): void {
  if (JSON.stringify(shown) === JSON.stringify(now)) return;
  throw new Problem(
    "conflict",
    "This was changed after the dialog was opened.",
    `Another operator did that, or an earlier try of yours whose answer was lost. ${OPEN_AGAIN}`,
  );
}

/** Throws a conflict if there are other live bans than a dialog has shown. Of those shown, some can have ended since. */
export function requireShown(shown: readonly Identified[], now: readonly Identified[]): void {
  if (notShown(shown, now).length === 0) return;
  throw new Problem(
    "conflict",
    "The key has a ban that the dialog did not show at this try.",
    `Another operator has set it, or an earlier try of yours whose answer was lost, or it was not loaded yet. ${OPEN_AGAIN}`,
  );
}

/** Those of `all` that a dialog has not shown. */
export function notShown<T extends Identified>(
  shown: readonly Identified[],
  all: readonly T[],
): readonly T[] {
  return all.filter(({ id }) => !shown.some((each) => each.id === id));
}
