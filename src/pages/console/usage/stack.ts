/** Sums for stacked bars. Pure. */

/** For each series the height of its upper edge: `[[1, 2], [3, 4]]`, two points of two series, becomes `[[1, 3], [3, 7]]`. */
export function stack(points: readonly (readonly number[])[]): number[][] {
  const seriesCount = points[0]?.length ?? 0;
  return Array.from({ length: seriesCount }, (_, series) =>
    points.map((values) => values.slice(0, series + 1).reduce((sum, value) => sum + value, 0)),
  );
}
