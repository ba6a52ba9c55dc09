/** Reads the members that entries of the audit log have before and after a change. Pure. */
import type { AuditView } from "../db/audit-repository.ts";

/**
 * Changes as they followed each other, the newest first. An entry's `at` is when its call began, by its isolate's clock: one that
 * is stored later can have an earlier time, and took effect no earlier than those stored before it.
 */
export function inStoredOrder(changes: readonly AuditView[]): AuditView[] {
  let latest = "";
  const oldestFirst = [...changes].reverse().map((change) => {
    latest = change.at > latest ? change.at : latest;
    return { ...change, at: latest };
  });
  return oldestFirst.reverse();
}

/** What a member of a key or plan was at a time, not before its creation: what the first change after it replaced, or what it is now. The changes are `inStoredOrder`. */
export function valueAt(changes: readonly AuditView[], member: string, atMs: number, now: unknown): unknown {
  const next = changes.findLast(
    (change) => Date.parse(change.at) > atMs && valueAfter(change, member) !== undefined,
  );
  return next === undefined ? now : memberOf(next.before, member);
}

/** Not if the member was set to what it was already. */
export function hasChanged(change: AuditView, member: string): boolean {
  const value = valueAfter(change, member);
  return value !== undefined && value !== memberOf(change.before, member);
}

/** Retiring a secret writes the secret's `expiresAt` under the key's id. */
function valueAfter({ call, after }: AuditView, member: string): unknown {
  return call === "keys.retire" ? undefined : memberOf(after, member);
}

export function membersOf(value: unknown): [string, unknown][] {
  return typeof value === "object" && value !== null ? Object.entries(value) : [];
}

export function memberOf(value: unknown, name: string): unknown {
  return membersOf(value).find(([each]) => each === name)?.[1];
}

export function textOf(value: unknown): string {
  return value === null ? "none" : typeof value === "string" ? value : JSON.stringify(value);
}
