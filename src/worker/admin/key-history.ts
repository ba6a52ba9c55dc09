/** What happened to a key: its changes and bans in one list, and the hours in which it was refused. */
import type { Bindings } from "../context.ts";
import { type AuditView, listChangesOf } from "../db/audit-repository.ts";
import { type BanPosition, comparePositions, listBans } from "../db/ban-list-repository.ts";
import { type BanView, toBanView } from "../db/ban-repository.ts";
import { openDatabase } from "../db/database.ts";
import { HOUR_MS } from "../limiter/core/quota.ts";
import { inspectLimiter } from "../limiter/limiter-admin-client.ts";
import { nowSeconds, rfc3339 } from "../time.ts";
import { requireKeyRecord } from "./key-service.ts";
import { startsBetween, usageOfKey } from "./key-usage-service.ts";
import type { Freshness, HourUsage } from "./usage-figures.ts";

/** `at` is when a change was made, or when a ban began. */
export type KeyEvent =
  | { readonly kind: "change"; readonly at: string; readonly change: AuditView }
  | { readonly kind: "ban"; readonly at: string; readonly ban: BanView };

export type KeyHistory = {
  readonly keyName: string;
  /** Newest first. */
  readonly events: readonly KeyEvent[];
  /** Where to go on; null on the last page. */
  readonly next: BanPosition | null;
  /** The hours with refusals of the last 7 days, oldest first. */
  readonly hours: readonly (HourUsage & Freshness)[];
  /** Whether the limiter was reached. If not, refusals that it has not reported are missing. */
  readonly complete: boolean;
};

const HOURS_SHOWN = 7 * 24;

export async function findKeyHistory(
  env: Bindings,
  id: string,
  { after, limit }: { readonly after: BanPosition | undefined; readonly limit: number },
): Promise<KeyHistory> {
  const db = openDatabase(env.DB);
  const key = await requireKeyRecord(db, id);
  const changes = await listChangesOf(db, id, after, limit);
  const { page } = await listBans(db, { state: "all", key: id, after, limit }, nowSeconds(), []);
  const events: KeyEvent[] = [
    ...changes.map((change) => ({ kind: "change" as const, at: change.at, change })),
    ...page.map(({ ban, keyName }) => ({
      kind: "ban" as const,
      at: rfc3339(ban.startedAt),
      ban: toBanView(ban, keyName, nowSeconds()),
    })),
  ];
  const shown = events.sort((a, b) => comparePositions(placeOf(a), placeOf(b))).slice(0, limit);
  const last = shown.length < limit ? undefined : shown.at(-1);
  const snapshot = await inspectLimiter(env, key);
  const starts = startsBetween(Date.now() - (HOURS_SHOWN - 1) * HOUR_MS, Date.now(), HOUR_MS);
  const { hours } = await usageOfKey(db, key, snapshot, { days: [], hours: starts });
  return {
    keyName: key.name,
    events: shown,
    next: last ? placeOf(last) : null,
    hours: hours.filter(({ refused, refusedWhileBanned }) => refused + refusedWhileBanned > 0),
    complete: snapshot !== undefined,
  };
}

/** Of the same second, changes are in the order in which they were stored. */
function placeOf(event: KeyEvent): BanPosition {
  const id = event.kind === "ban" ? event.ban.id : String(event.change.id).padStart(16, "0");
  return { value: Date.parse(event.at) / 1000, id };
}
