/** What happened to a key: its changes and bans in one list, and the hours in which it was refused. */
import type { Bindings } from "../../context.ts";
import { type Database, openDatabase } from "../../db/database.ts";
import { nowSeconds, rfc3339 } from "../../time.ts";
import { listChangesOf } from "../audit/sql.ts";
import { type BanPosition, comparePositions, listBans } from "../bans/list-sql.ts";
import { toBanView } from "../bans/sql.ts";
import type { HourUsage } from "../usage/schema.ts";
import { countedUntil, lastHours, listHours, reportNow } from "../usage/service.ts";
import type { KeyEvent } from "./schema.ts";
import { requireKey } from "./sql.ts";

export type KeyHistory = {
  readonly keyName: string;
  /** Newest first. */
  readonly events: readonly KeyEvent[];
  /** Where to go on; null on the last page. */
  readonly next: BanPosition | null;
  /** The hours with refusals of the last 7 days, oldest first, with each minute in which the key was refused. */
  readonly hours: readonly HourUsage[];
  /** All requests before it are in the hours. */
  readonly asOf: string;
};

type EventPage = { readonly after?: BanPosition | undefined; readonly limit: number };

const HOURS_SHOWN = 7 * 24;

export async function findKeyHistory(env: Bindings, id: string, page: EventPage): Promise<KeyHistory> {
  const db = openDatabase(env.DB);
  const key = await requireKey(db, id);
  const isReported = await reportNow(env, key);
  const { events, next } = await listEvents(db, id, page);
  const range = lastHours(HOURS_SHOWN);
  const hours = await listHours(db, id, range);
  return {
    keyName: key.name,
    events,
    next,
    hours: hours.filter((each) => each.refused + each.refusedWhileBanned > 0),
    asOf: countedUntil(range, isReported),
  };
}

/** The changes and bans of a key. */
export async function listEvents(
  db: Database,
  id: string,
  { after, limit }: EventPage,
): Promise<Pick<KeyHistory, "events" | "next">> {
  const [changes, bans] = await Promise.all([
    listChangesOf(db, id, after, limit),
    listBans(db, { state: "all", key: id, after, limit }, nowSeconds()),
  ]);
  const events: KeyEvent[] = [
    ...changes.map((change) => ({ kind: "change" as const, at: change.at, change })),
    ...bans.map(({ ban, keyName }) => ({
      kind: "ban" as const,
      at: rfc3339(ban.startedAt),
      ban: toBanView(ban, keyName, nowSeconds()),
    })),
  ];
  const shown = events.sort((a, b) => comparePositions(placeOf(a), placeOf(b))).slice(0, limit);
  const last = shown.length < limit ? undefined : shown.at(-1);
  return { events: shown, next: last ? placeOf(last) : null };
}

/** Changes of the same second are in the order in which they were stored. */
function placeOf(event: KeyEvent): BanPosition {
  const id = event.kind === "ban" ? event.ban.id : String(event.change.id).padStart(16, "0");
  return { value: Date.parse(event.at) / 1000, id };
}
