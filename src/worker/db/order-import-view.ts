/** An import as the admin API shows it: in the list of imports, and in the audit log. */
import { rfc3339, toUnixSeconds } from "../time.ts";
import type { orderImports } from "./order-schema.ts";

type ImportRow = typeof orderImports.$inferSelect;
type Counts = Pick<
  ImportFigures,
  "inserted" | "updated" | "unchanged" | "cancelled" | "reinserted" | "refused" | "backwards"
>;

export type ImportFigures = {
  readonly file: string | null;
  readonly inserted: number;
  readonly updated: number;
  readonly unchanged: number;
  /** Orders that were cancelled before, and are left so. */
  readonly cancelled: number;
  /** Among the inserted: orders that were cancelled before. */
  readonly reinserted: number;
  readonly refused: number;
  /** Orders whose status went back. */
  readonly backwards: number;
  /** Whether it ended early, because too many lines were refused. */
  readonly stopped: boolean;
  /** From the arrival of the first line to the last chunk. */
  readonly durationMs: number;
};

export type ImportView = ImportFigures & {
  readonly id: string;
  readonly actor: string;
  readonly startedAt: string;
};

export function countsOfImport(row: ImportRow): Counts {
  const { inserted, updated, unchanged, cancelled, reinserted, refused, backwards } = row;
  return { inserted, updated, unchanged, cancelled, reinserted, refused, backwards };
}

export function toImportFigures(row: ImportRow): ImportFigures {
  const { file, stopped } = row;
  // Two isolates' clocks.
  const durationMs = Math.max(0, row.storedAtMs - row.startedAtMs);
  return { file, ...countsOfImport(row), stopped, durationMs };
}

export function toImportView(row: ImportRow): ImportView {
  const { id, actor, startedAtMs } = row;
  return { id, actor, startedAt: rfc3339(toUnixSeconds(startedAtMs)), ...toImportFigures(row) };
}
