/** One request of an import: reads its orders, stores them in parts, and keeps what was refused. */
import type { Author } from "../db/audit-repository.ts";
import { isDatabaseOutage, isRefusedByDatabase } from "../db/database.ts";
import { type ImportCounts, ORDERS_PER_IMPORT_CHUNK } from "../db/order-import-repository.ts";
import { conflict, invalidRequest, requestTimeout, unavailable } from "../errors.ts";
import { logError } from "../log.ts";
import { MAX_REFUSED_LINES } from "../orders/import-limits.ts";
import type { ImportResult, RefusedLine } from "../orders/import-requests.ts";
import { splitRecords } from "../orders/json-records.ts";
import { type OrderLine, parseOrderLine } from "../orders/order-line.ts";
import { BrokenUpload } from "./upload.ts";
import { isPartOutOfOrder } from "./write-conflict.ts";

/** What is stored or counted at once. `refused` lines came since the part before. */
export type Part = {
  readonly before: ImportCounts;
  readonly lines: readonly OrderLine[];
  readonly refused: number;
  readonly isStopped: boolean;
};

/** Stores or counts a part. Returns the counts of the whole import so far. */
export type Store = (part: Part) => Promise<ImportCounts>;

export type RunOptions = {
  readonly import: string | null;
  readonly author: Author;
  readonly counts: ImportCounts;
  /** Stops after so many refused lines of the whole import. */
  readonly maxRefused: number;
  readonly store: Store;
};

/** A part that fails by no outage is tried again in halves: so often for each request, since each try is six queries. */
const MAX_HALVINGS = 20;

type NumberedLine = { readonly line: number; readonly order: OrderLine };

export class ImportRun {
  readonly #options: RunOptions;
  #counts: ImportCounts;
  #chunk: NumberedLine[] = [];
  /** Refused lines that are not in the stored counts yet. */
  #refusedLines: number[] = [];
  readonly #refused: RefusedLine[] = [];
  #lastLine = 0;
  #lastStoredLine = 0;
  #halvings = 0;
  #isStopped = false;

  constructor(options: RunOptions) {
    this.#options = options;
    this.#counts = options.counts;
  }

  /** The lines of a part that could not be stored are among the refused ones. */
  async read(upload: AsyncIterable<string>, alreadyStored: number): Promise<ImportResult> {
    let records = 0;
    for await (const { number, text: json, problem } of this.#untilBroken(upload)) {
      const isStored = ++records <= alreadyStored;
      this.#isStopped = !isStored && this.#refusedCount() >= this.#options.maxRefused;
      if (this.#isStopped) break;
      const parsed = problem === undefined ? parseOrderLine(json) : { ok: false as const, reason: problem };
      this.#lastLine = number;
      if (isStored) this.#lastStoredLine = number;
      if (!parsed.ok) this.#refuse(number, parsed.reason, isStored);
      else if (!isStored) this.#chunk.push({ line: number, order: parsed.order });
      if (this.#chunk.length === ORDERS_PER_IMPORT_CHUNK) await this.#storeChunk();
    }
    if (records === 0) {
      throw invalidRequest("The body must contain orders: a JSON array, or one JSON object per line.");
    }
    const hasOrders = this.#chunk.length > 0;
    if (hasOrders) await this.#storeChunk();
    if (this.#refusedLines.length > 0 || (this.#isStopped && !hasOrders)) await this.#storeChunk();
    return this.#result();
  }

  #result(): ImportResult {
    const { inserted, updated, unchanged, cancelled, reinserted, backwards } = this.#counts;
    return {
      import: this.#options.import,
      inserted,
      updated,
      unchanged,
      cancelled,
      reinserted,
      backwards,
      refusedCount: this.#refusedCount(),
      stopped: this.#isStopped,
      refused: this.#refused,
    };
  }

  #refusedCount(): number {
    return this.#counts.refused + this.#refusedLines.length;
  }

  async *#untilBroken(upload: AsyncIterable<string>) {
    try {
      yield* splitRecords(upload);
    } catch (thrown) {
      if (thrown instanceof BrokenUpload) throw requestTimeout(`The upload broke off. ${this.#stored()}`);
      throw thrown;
    }
  }

  async #storeChunk(): Promise<void> {
    const chunk = this.#chunk;
    this.#chunk = [];
    await this.#storePart(chunk, this.#lastLine);
  }

  /** All lines up to `lastLine`, since a repeated request skips as many records as are counted. */
  async #storePart(chunk: readonly NumberedLine[], lastLine: number): Promise<void> {
    const later = this.#refusedLines.filter((line) => line > lastLine);
    const part = {
      before: this.#counts,
      lines: chunk.map(({ order }) => order),
      refused: this.#refusedLines.length - later.length,
      isStopped: this.#isStopped,
    };
    try {
      this.#counts = await this.#options.store(part);
      this.#refusedLines = later;
      this.#lastStoredLine = lastLine;
    } catch (thrown) {
      if (!isRefusedByDatabase(thrown) || isPartOutOfOrder(thrown)) throw this.#failure(thrown, lastLine);
      await this.#storeHalves(chunk, lastLine, thrown);
    }
  }

  /** One line that the database refuses must not keep the others of its chunk out. */
  async #storeHalves(chunk: readonly NumberedLine[], lastLine: number, thrown: unknown): Promise<void> {
    if (chunk.length > 1 && this.#halvings < MAX_HALVINGS) {
      this.#halvings++;
      const first = chunk.slice(0, chunk.length / 2);
      await this.#storePart(first, first.at(-1)?.line ?? lastLine);
      await this.#storePart(chunk.slice(first.length), lastLine);
      return;
    }
    logError("order_import_chunk_failed", thrown, { requestId: this.#options.author.requestId });
    for (const { line } of chunk) this.#refuse(line, "could not be stored; please import it again", false);
  }

  /** Why the import cannot go on. The part may be stored, and only the answer lost. */
  #failure(thrown: unknown, lastLine: number): unknown {
    if (isPartOutOfOrder(thrown)) {
      return conflict("Another request of this import was stored meanwhile, or the database was restored.");
    }
    if (!isDatabaseOutage(thrown)) return thrown;
    const id = this.#options.import;
    if (id === null) return unavailable(`The database cannot be reached. ${this.#stored()}`, thrown);
    const before = this.#lastStoredLine === 0 ? "" : `${this.#storedUpTo(id)} `;
    const unknown = `Whether lines ${this.#lastStoredLine + 1} to ${lastLine} were stored is not known.`;
    const next = `Sent again as the import ${id}, it goes on after what is stored.`;
    return unavailable(`The database cannot be reached. ${before}${unknown} ${next}`, thrown);
  }

  /** So that the operator knows where to go on. */
  #stored(): string {
    const id = this.#options.import;
    if (id === null) return "A dry run changes nothing.";
    if (this.#lastStoredLine === 0) return "Nothing of this request was stored.";
    return `${this.#storedUpTo(id)} Sent again as the same import, it goes on there.`;
  }

  #storedUpTo(id: string): string {
    const { inserted, updated, unchanged, cancelled, refused } = this.#counts;
    return `This request is stored up to line ${this.#lastStoredLine}: import ${id} has ${inserted} inserted, ${updated} updated, ${unchanged} unchanged, ${cancelled} cancelled and ${refused} refused orders.`;
  }

  #refuse(line: number, reason: string, isStored: boolean): void {
    if (!isStored) this.#refusedLines.push(line);
    // A request that is sent again may have other lines in place of those that are stored, and none of them stops the import.
    if (this.#refused.length >= MAX_REFUSED_LINES) return;
    this.#refused.push({ line, reason });
  }
}
