/** The median and the quartiles of measured values. Pure. */

/** `low` and `high` are the quartiles: half of the values lie between them. */
export type Spread = { readonly median: number; readonly low: number; readonly high: number };

/** Throws without values, because no figure describes them. */
export function spreadOf(values: readonly number[]): Spread {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (share: number) => {
    const place = share * (sorted.length - 1);
    const [below, above] = [sorted[Math.floor(place)], sorted[Math.ceil(place)]];
    if (below === undefined || above === undefined) throw new Error("no values were measured");
    return below + (above - below) * (place % 1);
  };
  return { median: at(0.5), low: at(0.25), high: at(0.75) };
}

/** Each value as a ratio to the base of the same round, so that a load that lasts a round hardly counts. */
export function ratiosOf(values: readonly number[], bases: readonly number[]): Spread {
  return spreadOf(values.map((value, round) => value / (bases[round] ?? Number.NaN)));
}

/** The same items in random order, so that no case always follows the same load. */
export function shuffled<T>(items: readonly T[]): T[] {
  const drawn = items.map((item) => ({ item, draw: Math.random() }));
  return drawn.sort((a, b) => a.draw - b.draw).map(({ item }) => item);
}
