/** What the command line and the console share when they send one import in several requests. Pure. */
import { MAX_FILE_NAME_CHARS } from "./import-limits.ts";

export type RefusedLine = { readonly line: number; readonly reason: string };

/** The answer to a request. The counts are those of the whole import, the refused lines those of this request. */
export type ImportResult = {
  /** Null: a dry run. */
  readonly import: string | null;
  readonly inserted: number;
  readonly updated: number;
  readonly unchanged: number;
  /** Orders that were cancelled before, and are left so. */
  readonly cancelled: number;
  /** Among the inserted: orders that were cancelled before. */
  readonly reinserted: number;
  /** Orders that were set to an earlier status. They are among the updated ones. */
  readonly backwards: number;
  readonly refusedCount: number;
  /** Whether it stopped because too many lines were refused. Nothing after the last of them was read. */
  readonly stopped: boolean;
  /** `line` counts from 1: lines of NDJSON, elements of an array. */
  readonly refused: readonly RefusedLine[];
};

export const NOTHING_IMPORTED: ImportResult = {
  import: null,
  inserted: 0,
  updated: 0,
  unchanged: 0,
  cancelled: 0,
  reinserted: 0,
  backwards: 0,
  refusedCount: 0,
  stopped: false,
  refused: [],
};

/** A line that the service refuses. Sent in place of a record that cannot be a line, so that the import counts it. */
export const REFUSED_LINE = "null";

/** One line of text, as the admin API requires. Empty if nothing is left. */
export function importedFileName(name: string): string {
  return name.replace(/\p{C}/gu, "").trim().slice(0, MAX_FILE_NAME_CHARS);
}

/** What follows the first sentence of a 408 or a 503 is about the lines of one request, and how to go on over HTTP. */
export function withoutLines(message: string): string {
  return message.replace(/\. .*/s, ".");
}

export function adviceToRepeat(restoresCancelled: boolean): string {
  return restoresCancelled
    ? "Importing the whole file again restores also what clients cancel until then."
    : "Importing the whole file again is safe.";
}

/** The result of the requests so far. The service does not keep the counts of a dry run. */
export function withAnswer(before: ImportResult, answer: ImportResult, isDryRun: boolean): ImportResult {
  const counted = isDryRun ? before : NOTHING_IMPORTED;
  return {
    import: answer.import,
    inserted: counted.inserted + answer.inserted,
    updated: counted.updated + answer.updated,
    unchanged: counted.unchanged + answer.unchanged,
    cancelled: counted.cancelled + answer.cancelled,
    reinserted: counted.reinserted + answer.reinserted,
    backwards: counted.backwards + answer.backwards,
    refusedCount: counted.refusedCount + answer.refusedCount,
    stopped: answer.stopped,
    refused: [...before.refused, ...answer.refused],
  };
}
