/** The order in which loads of the same data began. Pure. */

/**
 * Begins a load. What it returns says, when the load has ended, whether to show its answer or failure: not if the answer of a later
 * load was shown, which can have a change that this one was too early for. A failure replaces no answer.
 */
export function orderedLoads(): () => (hasFailed: boolean) => boolean {
  let begun = 0;
  let shown = 0;
  return () => {
    const number = ++begun;
    return (hasFailed) => {
      if (number < shown) return false;
      if (!hasFailed) shown = number;
      return true;
    };
  };
}
