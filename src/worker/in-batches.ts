/** Runs many asynchronous calls, a batch at a time. Pure. */

/** The results in the order of the items. Each batch starts when every call of the batch before has ended. */
export async function inBatches<Item, Result>(
  items: readonly Item[],
  batchSize: number,
  call: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  for (let start = 0; start < items.length; start += batchSize) {
    results.push(...(await Promise.all(items.slice(start, start + batchSize).map(call))));
  }
  return results;
}
