/** The order in which loads of the same data began. Pure. */

/**
 * Begins a load. What it returns says, when its answer is there, whether to show it: not if that of a later load was shown, which can
 * have a change that this one was too early for.
 */
export function orderedLoads(): () => () => boolean {
  let begun = 0;
  let shown = 0;
  return () => {
    const number = ++begun;
    return () => {
      if (number < shown) return false;
      shown = number;
      return true;
    };
  };
}
