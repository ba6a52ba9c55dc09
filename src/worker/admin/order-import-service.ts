/** Imports a stream of orders, or counts what the import would change. Each part is one transaction with its figures. */
import type { Bindings } from "../context.ts";
import type { Author } from "../db/audit-repository.ts";
import { type Database, isDatabaseOutage, openDatabase } from "../db/database.ts";
import {
  countPart,
  findImport,
  type ImportCounts,
  importPart,
  type NewImport,
  ORDERS_PER_IMPORT_CHUNK,
} from "../db/order-import-repository.ts";
import { type ApiError, conflict, invalidRequest, unavailable } from "../errors.ts";
import { logError } from "../log.ts";
import { splitRecords } from "../orders/json-records.ts";
import { type OrderLine, parseOrderLine } from "../orders/order-line.ts";
import { isPartOutOfOrder } from "./write-conflict.ts";

/** Further refused lines are only counted. These take some 1 MB, and are twice what the CLI sends in one request. */
const MAX_REFUSED_LINES_LISTED = 10_000;

export type ImportOptions = {
  /** The import that this request is part of; without an id it is an import of its own. */
  readonly import?: string | undefined;
  readonly file?: string | undefined;
  /** How many records of the import came before this request. */
  readonly from: number;
  readonly isDryRun: boolean;
};

/** The counts are those of the whole import, the refused lines those of this request. */
export type ImportResult = {
  /** Null: a dry run. */
  readonly import: string | null;
  inserted: number;
  updated: number;
  unchanged: number;
  /** Orders whose status goes back, such as from delivered to pending. */
  backwards: number;
  refusedCount: number;
  /** `line` counts from 1: lines of NDJSON, elements of an array. */
  refused: { line: number; reason: string }[];
};

type NumberedLine = { readonly line: number; readonly order: OrderLine };

/** Stores or counts a part. Returns the counts of the whole import so far. */
type Store = (before: ImportCounts, lines: readonly OrderLine[], refused: number) => Promise<ImportCounts>;

class BrokenUpload extends Error {}

export async function importOrders(
  env: Bindings,
  text: AsyncIterable<string>,
  options: ImportOptions,
  author: Author,
): Promise<ImportResult> {
  const db = openDatabase(env.DB);
  return options.isDryRun
    ? new Import(null, author, NOTHING, countWith(db)).read(text, 0)
    : startImport(db, text, options, author);
}

const NOTHING: ImportCounts = { inserted: 0, updated: 0, unchanged: 0, refused: 0, backwards: 0 };

/** A repeated request goes on after the records that an earlier try has stored, so each counts once. */
async function startImport(
  db: Database,
  text: AsyncIterable<string>,
  options: ImportOptions,
  author: Author,
): Promise<ImportResult> {
  const id = options.import ?? `imp_${crypto.randomUUID()}`;
  const known = options.import === undefined ? undefined : await findImport(db, id);
  if (known && known.actor !== author.actor) throw conflict("The import belongs to another operator.");
  if (known && known.undoneAt !== null) throw conflict("The import was undone. Start a new one.");
  const { inserted, updated, unchanged, refused, backwards } = known ?? NOTHING;
  const handled = inserted + updated + unchanged + refused;
  const started = { id, file: options.file ?? null, startedAtMs: known?.startedAtMs ?? Date.now() };
  const counts = { inserted, updated, unchanged, refused, backwards };
  const run = new Import(id, author, counts, storeWith(db, author, started));
  return run.read(text, Math.max(0, handled - options.from));
}

function storeWith(db: Database, author: Author, started: NewImport): Store {
  return (before, lines, refused) =>
    importPart(db, author, { import: started, before, lines, refused, nowMs: Date.now() });
}

function countWith(db: Database): Store {
  return async (before, lines, refused) => {
    const counts = await countPart(db, lines);
    return {
      inserted: before.inserted + counts.inserted,
      updated: before.updated + counts.updated,
      unchanged: before.unchanged + counts.unchanged,
      refused: before.refused + refused,
      backwards: before.backwards + counts.backwards,
    };
  };
}

class Import {
  readonly #id: string | null;
  readonly #author: Author;
  readonly #store: Store;
  #counts: ImportCounts;
  #chunk: NumberedLine[] = [];
  /** Not stored yet. */
  #refusedCount = 0;
  readonly #refused: ImportResult["refused"] = [];
  #lastLine = 0;
  #lastStoredLine = 0;

  constructor(id: string | null, author: Author, counts: ImportCounts, store: Store) {
    this.#id = id;
    this.#author = author;
    this.#counts = counts;
    this.#store = store;
  }

  /** The lines of a part that could not be stored are among the refused ones. */
  async read(text: AsyncIterable<string>, alreadyStored: number): Promise<ImportResult> {
    let records = 0;
    for await (const { number, text: json, problem } of this.#untilBroken(text)) {
      const parsed = problem === undefined ? parseOrderLine(json) : { ok: false as const, reason: problem };
      const isStored = ++records <= alreadyStored;
      this.#lastLine = number;
      if (isStored) this.#lastStoredLine = number;
      if (!parsed.ok) this.#refuse(number, parsed.reason, isStored);
      else if (!isStored) this.#chunk.push({ line: number, order: parsed.order });
      if (this.#chunk.length === ORDERS_PER_IMPORT_CHUNK) await this.#storePart();
    }
    if (this.#chunk.length > 0) await this.#storePart();
    if (this.#refusedCount > 0) await this.#storePart();
    if (records === 0) {
      throw invalidRequest("The body must contain orders: a JSON array, or one JSON object per line.");
    }
    const { refused, ...counts } = this.#counts;
    return {
      import: this.#id,
      ...counts,
      refusedCount: refused + this.#refusedCount,
      refused: this.#refused,
    };
  }

  async *#untilBroken(text: AsyncIterable<string>) {
    try {
      yield* splitRecords(upload(text));
    } catch (thrown) {
      if (thrown instanceof BrokenUpload) throw invalidRequest(`The upload broke off. ${this.#stored()}`);
      throw thrown;
    }
  }

  async #storePart(): Promise<void> {
    const orders = this.#chunk.map(({ order }) => order);
    const chunk = this.#chunk;
    this.#chunk = [];
    try {
      this.#counts = await this.#store(this.#counts, orders, this.#refusedCount);
      this.#refusedCount = 0;
      this.#lastStoredLine = this.#lastLine;
    } catch (thrown) {
      const failure = this.#failure(thrown);
      if (failure) throw failure;
      logError("order_import_chunk_failed", thrown, { requestId: this.#author.requestId });
      for (const { line } of chunk) this.#refuse(line, "could not be stored; please import it again", false);
    }
  }

  /** Why the import cannot go on; undefined if only this part could not be stored. */
  #failure(thrown: unknown): ApiError | undefined {
    if (isPartOutOfOrder(thrown)) {
      return conflict("Another request of this import was stored meanwhile, or the import was undone.");
    }
    if (!isDatabaseOutage(thrown)) return undefined;
    return unavailable(`The database cannot be reached. ${this.#stored()}`, thrown);
  }

  /** So that the operator knows where to go on. */
  #stored(): string {
    if (this.#id === null) return "A dry run changes nothing.";
    if (this.#lastStoredLine === 0) return "Nothing of this request was stored.";
    const { inserted, updated, unchanged, refused } = this.#counts;
    return `This request is stored up to line ${this.#lastStoredLine}: import ${this.#id} has ${inserted} inserted, ${updated} updated, ${unchanged} unchanged and ${refused} refused orders. Sent again as the same import, it goes on there.`;
  }

  #refuse(line: number, reason: string, isStored: boolean): void {
    if (!isStored) this.#refusedCount++;
    if (this.#refused.length < MAX_REFUSED_LINES_LISTED) this.#refused.push({ line, reason });
  }
}

async function* upload(text: AsyncIterable<string>): AsyncGenerator<string, void> {
  try {
    yield* text;
  } catch (thrown) {
    throw new BrokenUpload("the client's connection was lost", { cause: thrown });
  }
}
