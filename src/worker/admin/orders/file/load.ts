/** Loads the orders of a file in batches. For the command line and the console. Pure. */
import { MAX_FILE_NAME_CHARS } from "../loaded-order.ts";
import type { LoadCounts } from "../schema.ts";
import type { ReadLine } from "./read.ts";
import type { FileProblem } from "./text.ts";

/** The figures of the file so far. */
export type LoadProgress = LoadCounts & { readonly read: number; readonly refused: number };

type Send = (json: string) => Promise<LoadCounts>;

/**
 * Sends the orders as JSON arrays of up to `batchSize`, one after the other, and yields the progress after
 * each array. An error of `send` ends the load.
 */
export async function* loadInBatches(
  lines: AsyncIterable<ReadLine | FileProblem>,
  send: Send,
  batchSize: number,
): AsyncGenerator<LoadProgress, void> {
  let progress: LoadProgress = NOTHING_LOADED;
  let orders: string[] = [];
  let refused = 0;
  for await (const each of lines) {
    if ("problem" in each) throw new Error(each.problem); // the file has changed since it was checked
    if (orders.length + refused >= batchSize) {
      progress = await loadBatch(progress, orders, refused, send);
      yield progress;
      [orders, refused] = [[], 0];
    }
    if ("order" in each) orders.push(JSON.stringify(each.order));
    else refused++;
  }
  yield await loadBatch(progress, orders, refused, send);
}

async function loadBatch(
  before: LoadProgress,
  orders: readonly string[],
  refused: number,
  send: Send,
): Promise<LoadProgress> {
  const figures = orders.length === 0 ? NOTHING_LOADED : await send(`[${orders.join(",")}]`);
  return {
    read: before.read + orders.length + refused,
    inserted: before.inserted + figures.inserted,
    updated: before.updated + figures.updated,
    unchanged: before.unchanged + figures.unchanged,
    cancelled: before.cancelled + figures.cancelled,
    kept: before.kept + figures.kept,
    refused: before.refused + refused,
  };
}

export const NOTHING_LOADED: LoadProgress = {
  ...{ read: 0, inserted: 0, updated: 0, unchanged: 0, cancelled: 0, kept: 0, refused: 0 },
};

/** Returns the name of a file as one line of text, for the audit log. Undefined if nothing is left. */
export function loadedFileName(name: string): string | undefined {
  return name.replace(/\p{C}/gu, "").trim().slice(0, MAX_FILE_NAME_CHARS) || undefined;
}
