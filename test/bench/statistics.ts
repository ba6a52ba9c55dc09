/** The median and the spread of a few measured values. Pure. */

export type Spread = { readonly median: number; readonly min: number; readonly max: number };

/** Of an even count, the mean of the two middle values. Throws without values, because no figure describes them. */
export function spreadOf(values: readonly number[]): Spread {
  const sorted = values.toSorted((a, b) => a - b);
  const low = sorted[Math.floor((sorted.length - 1) / 2)];
  const high = sorted[Math.floor(sorted.length / 2)];
  const min = sorted[0];
  const max = sorted.at(-1);
  if (low === undefined || high === undefined || min === undefined || max === undefined) {
    throw new Error("no values were measured");
  }
  return { median: (low + high) / 2, min, max };
}

/** Each value in proportion to the base of the same round, so that a load that lasts a round does not change it. */
export function ratiosOf(values: readonly number[], bases: readonly number[]): Spread {
  return spreadOf(values.map((value, round) => value / (bases[round] ?? Number.NaN)));
}

/** The same items, begun at another one in each round, so that no case always follows the same load. */
export function rotated<T>(items: readonly T[], round: number): T[] {
  const start = round % items.length;
  return [...items.slice(start), ...items.slice(0, start)];
}
