/** Imports a stream of orders, or counts what the import would change. Each part is one transaction with its figures. */
import type { Bindings } from "../context.ts";
import type { Author } from "../db/audit-repository.ts";
import { type Database, openDatabase } from "../db/database.ts";
import {
  countPart,
  findImport,
  type ImportCounts,
  type ImportRow,
  importPart,
} from "../db/order-import-repository.ts";
import { countsOfImport } from "../db/order-import-view.ts";
import { conflict } from "../errors.ts";
import type { ImportResult } from "../orders/import-requests.ts";
import { ImportRun, type Store } from "./order-import-run.ts";
import type { Upload } from "./upload.ts";

export type ImportOptions = {
  /** The import that this request is part of; without an id it is an import of its own. */
  readonly import?: string | undefined;
  readonly file?: string | undefined;
  /** How many records of the import came before this request. */
  readonly from: number;
  /** Whether an order that was cancelled is inserted again. */
  readonly restoresCancelled: boolean;
  /** Stops after so many refused lines of the whole import. */
  readonly maxRefused: number;
  readonly isDryRun: boolean;
};

export async function importOrders(
  env: Bindings,
  upload: Upload,
  options: ImportOptions,
  author: Author,
): Promise<ImportResult> {
  const db = openDatabase(env.DB);
  if (!options.isDryRun) return startImport(db, upload, options, author);
  const { maxRefused } = options;
  const store = countWith(db, options);
  const run = new ImportRun({ import: null, author, counts: NOTHING, maxRefused, store });
  return run.read(upload, 0);
}

const NOTHING: ImportCounts = {
  inserted: 0,
  updated: 0,
  unchanged: 0,
  cancelled: 0,
  reinserted: 0,
  refused: 0,
  backwards: 0,
};

/** A repeated request goes on after the records that an earlier try has stored, so each counts once. */
async function startImport(
  db: Database,
  upload: Upload,
  options: ImportOptions,
  author: Author,
): Promise<ImportResult> {
  const id = options.import ?? `imp_${crypto.randomUUID()}`;
  const known = options.import === undefined ? undefined : await findImport(db, id);
  if (known) requireSameImport(known, options.file, author);
  const counts = known ? countsOfImport(known) : NOTHING;
  const { inserted, updated, unchanged, cancelled, refused } = counts;
  const handled = inserted + updated + unchanged + cancelled + refused;
  // A request in between that comes later would be skipped as already stored.
  if (options.import !== undefined && options.from > handled) {
    throw conflict(
      `The import has ${handled} orders so far, and from is ${options.from}: send its requests one after the other.`,
    );
  }
  const file = options.file ?? null;
  const run = new ImportRun({
    import: id,
    author,
    counts,
    maxRefused: options.maxRefused,
    store: storeWith(db, author, { id, file, upload }, options),
  });
  return run.read(upload, Math.max(0, handled - options.from));
}

function requireSameImport(known: ImportRow, file: string | undefined, author: Author): void {
  if (known.actor !== author.actor) throw conflict("The import belongs to another operator.");
  if (file !== undefined && file !== known.file) {
    throw conflict("The import is of another file. Start a new one.");
  }
}

type Uploaded = { readonly id: string; readonly file: string | null; readonly upload: Upload };

/** An upload can take an hour: in the audit log an import counts from when its first part is stored. */
function storeWith(
  db: Database,
  author: Author,
  { id, file, upload }: Uploaded,
  { restoresCancelled }: ImportOptions,
): Store {
  return (part) => {
    const nowMs = Date.now();
    const started = { id, file, startedAtMs: upload.startedAtMs ?? nowMs };
    const storing = { ...author, at: Math.floor(nowMs / 1000) };
    return importPart(db, storing, { import: started, ...part, restoresCancelled, nowMs });
  };
}

function countWith(db: Database, { restoresCancelled }: ImportOptions): Store {
  return async ({ before, lines, refused }) => {
    const counts = await countPart(db, lines, restoresCancelled);
    return {
      inserted: before.inserted + counts.inserted,
      updated: before.updated + counts.updated,
      unchanged: before.unchanged + counts.unchanged,
      cancelled: before.cancelled + counts.cancelled,
      reinserted: before.reinserted + counts.reinserted,
      backwards: before.backwards + counts.backwards,
      refused: before.refused + refused,
    };
  };
}
