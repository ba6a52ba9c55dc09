/** Undoes an import as a whole: new orders are deleted, changed ones are set back, those that changed since stay. */
import type { Bindings } from "../context.ts";
import type { Author } from "../db/audit-repository.ts";
import { openDatabase } from "../db/database.ts";
import { findImport } from "../db/order-import-repository.ts";
import { findLastChunk, undoChunk } from "../db/order-import-undo-repository.ts";
import { type ImportView, toImportView } from "../db/order-import-view.ts";
import { conflict, notFound } from "../errors.ts";

/** What each chunk changed is kept for longer, so that an undo which began in time can end. */
export const MAX_UNDO_AGE_SECONDS = 86_400;

/** 35 queries, which stays within the 50 per request of Cloudflare's free plan. */
const MAX_CHUNKS_PER_REQUEST = 4;

export type UndoResult = {
  readonly import: ImportView;
  /** Whether chunks are left: the call must be repeated until it is true. */
  readonly isComplete: boolean;
  /** The ids of the orders that this call left alone, because they were changed, deleted or cancelled since. */
  readonly leftAlone: readonly string[];
};

export async function undoImport(env: Bindings, id: string, author: Author): Promise<UndoResult> {
  const db = openDatabase(env.DB);
  let imported = await findImport(db, id);
  if (!imported) throw notFound("No import has this id.");
  const isOld = imported.startedAtMs < (author.at - MAX_UNDO_AGE_SECONDS) * 1000;
  if (isOld && imported.undoneAt === null) {
    throw conflict("An import can be undone for a day only, and this one is older.");
  }
  const leftAlone: string[] = [];
  for (let count = 0; count < MAX_CHUNKS_PER_REQUEST; count++) {
    const chunk = await findLastChunk(db, id);
    // Also an import that has changed nothing is ended by its undo, so that nothing more of it is stored.
    if (chunk === null && imported.undoneAt !== null) break;
    const undone = await undoChunk(db, author, id, chunk);
    imported = undone.import;
    leftAlone.push(...undone.leftAlone);
  }
  const isComplete = (await findLastChunk(db, id)) === null;
  return { import: toImportView(imported), isComplete, leftAlone };
}
