/** Undoes an import as a whole: new orders are deleted, changed ones are set back, those that changed since stay. */
import type { Bindings } from "../context.ts";
import type { Author } from "../db/audit-repository.ts";
import { openDatabase } from "../db/database.ts";
import { findImport, type ImportRow } from "../db/order-import-repository.ts";
import { findLastChunk, findLeftAlone, undoLastChunk } from "../db/order-import-undo-repository.ts";
import { type ImportView, toImportView } from "../db/order-import-view.ts";
import { type ApiError, conflict, notFound } from "../errors.ts";
import { IMPORT_CHUNKS_RETENTION_DAYS, MAX_LEFT_ALONE_NAMED } from "../orders/import-limits.ts";

/** What each chunk changed is kept for longer, so that an undo which began in time can end. */
export const MAX_UNDO_AGE_SECONDS = 86_400;

/** Up to 32 queries, which stays within the 50 per request of Cloudflare's free plan. */
const MAX_CHUNKS_PER_REQUEST = 4;

export type UndoResult = {
  readonly import: ImportView;
  /** Whether chunks are left: the call must be repeated until it is true. */
  readonly isComplete: boolean;
  /** The number of the chunk that the next call begins with, which falls with each call; null: complete. */
  readonly lastChunk: number | null;
  /**
   * Empty until it is complete: the ids of the orders that were left alone, because they were changed, deleted or cancelled
   * since. At most `MAX_LEFT_ALONE_NAMED`, and no longer than what undoing needs is kept.
   */
  readonly leftAlone: readonly string[];
};

export async function undoImport(env: Bindings, id: string, author: Author): Promise<UndoResult> {
  const db = openDatabase(env.DB);
  const before = await findImport(db, id);
  if (!before) throw noSuchImport();
  const isOld = before.startedAtMs < (author.at - MAX_UNDO_AGE_SECONDS) * 1000;
  if (isOld && before.undoneAt === null) {
    throw conflict("An import can be undone for a day only, and this one is older.");
  }
  for (let count = 0; count < MAX_CHUNKS_PER_REQUEST; count++) {
    // Also an import that has changed nothing is ended by its undo, so that nothing more of it is stored.
    const isEnded = count > 0 || before.undoneAt !== null;
    if (isEnded && (await findLastChunk(db, id)) === null) break;
    await undoLastChunk(db, author, id);
  }
  const lastChunk = await findLastChunk(db, id);
  const isComplete = lastChunk === null;
  // Read last: a call that runs at the same time may have undone the last chunks.
  const imported = await findImport(db, id);
  if (!imported) throw noSuchImport();
  if (isComplete && !areAllCounted(imported) && mayLackChunks(imported, author.at)) {
    throw conflict(
      `It is no longer known whether the whole import was undone: what that needs is kept for ${IMPORT_CHUNKS_RETENTION_DAYS} days only.`,
    );
  }
  const isNamed = isComplete && imported.leftAlone > 0;
  const leftAlone = isNamed ? await findLeftAlone(db, id, MAX_LEFT_ALONE_NAMED) : [];
  return { import: toImportView(imported), isComplete, lastChunk, leftAlone };
}

/** Also of one that is past its retention, and was deleted since the call began. */
function noSuchImport(): ApiError {
  return notFound("No import has this id.");
}

function mayLackChunks({ startedAtMs }: ImportRow, nowSeconds: number): boolean {
  return startedAtMs < (nowSeconds - IMPORT_CHUNKS_RETENTION_DAYS * 86_400) * 1000;
}

/** Only if all chunks were undone. The reverse is not certain: an order that is repeated in the file can count once for several lines. */
function areAllCounted({ inserted, updated, deleted, restored, leftAlone }: ImportRow): boolean {
  return deleted + restored + leftAlone >= inserted + updated;
}
