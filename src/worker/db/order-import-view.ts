/** An import as the admin API shows it: in the list of imports, and in the audit log. */
import { rfc3339, toUnixSeconds } from "../time.ts";
import type { orderImports } from "./order-schema.ts";

type ImportRow = typeof orderImports.$inferSelect;

export type ImportFigures = {
  readonly file: string | null;
  readonly inserted: number;
  readonly updated: number;
  readonly unchanged: number;
  /** Orders that were cancelled before, and are left so. */
  readonly cancelled: number;
  readonly refused: number;
  /** Orders whose status went back. */
  readonly backwards: number;
  /** Whether it ended early, because too many lines were refused. */
  readonly stopped: boolean;
  /** From the first request to the last chunk. */
  readonly durationMs: number;
  /** Null: not undone. */
  readonly undone: {
    readonly at: string;
    readonly deleted: number;
    readonly restored: number;
    /** Orders that had changed since, or were cancelled. */
    readonly leftAlone: number;
  } | null;
};

export type ImportView = ImportFigures & {
  readonly id: string;
  readonly actor: string;
  readonly startedAt: string;
};

export function toImportFigures(row: ImportRow): ImportFigures {
  const { file, inserted, updated, unchanged, cancelled, refused, backwards, stopped } = row;
  const { deleted, restored, leftAlone } = row;
  const durationMs = row.storedAtMs - row.startedAtMs;
  const undone = row.undoneAt === null ? null : { at: rfc3339(row.undoneAt), deleted, restored, leftAlone };
  return { file, inserted, updated, unchanged, cancelled, refused, backwards, stopped, durationMs, undone };
}

export function toImportView(row: ImportRow): ImportView {
  const { id, actor, startedAtMs } = row;
  return { id, actor, startedAt: rfc3339(toUnixSeconds(startedAtMs)), ...toImportFigures(row) };
}
