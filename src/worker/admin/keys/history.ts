/** Lists what happened to a key: its changes and bans in one list, and the hours with refusals. */
import type * as v from "valibot";
import type { Bindings } from "../../context.ts";
import { type Database, openDatabase } from "../../db/database.ts";
import { nowSeconds } from "../../text/time.ts";
import { listChangesOf } from "../audit/sql.ts";
import { comparePositions, selectBans } from "../bans/list-sql.ts";
import { fromCursor, type Position, pageOf, toCursor } from "../http/cursor.ts";
import { countedUntil, lastDays, listHours, reportNow } from "../usage/service.ts";
import type { KeyEvent, keyHistory, keyHistoryQuery } from "./schema.ts";
import { requireKey } from "./sql.ts";

type EventQuery = v.InferOutput<typeof keyHistoryQuery>;

const DAYS_SHOWN = 7;

export async function findKeyHistory(
  env: Bindings,
  id: string,
  query: EventQuery,
): Promise<v.InferOutput<typeof keyHistory>> {
  const db = openDatabase(env.DB);
  const key = await requireKey(db, id);
  const isReported = await reportNow(env, key);
  const { events, next } = await listEvents(db, id, query);
  const range = lastDays(DAYS_SHOWN);
  const hours = await listHours(db, id, range);
  return {
    keyName: key.name,
    events,
    next,
    hours: hours.filter((each) => each.refused + each.refusedWhileBanned > 0),
    asOf: countedUntil(range, isReported ? Date.now() : undefined),
  };
}

/** Lists the changes and bans of a key, the newest first. */
export async function listEvents(
  db: Database,
  id: string,
  { after, limit }: EventQuery,
): Promise<Pick<v.InferOutput<typeof keyHistory>, "events" | "next">> {
  const position = fromCursor("history", after);
  const [changes, bans] = await Promise.all([
    listChangesOf(db, id, position, limit + 1),
    selectBans(db, { state: "all", key: id }, position, limit + 1, nowSeconds()),
  ]);
  const events: KeyEvent[] = [
    ...changes.map((change) => ({ kind: "change" as const, at: change.at, change })),
    ...bans.map(({ ban }) => ({ kind: "ban" as const, at: ban.startedAt, ban })),
  ];
  events.sort((a, b) => comparePositions(positionOf(a), positionOf(b)));
  const { shown, last } = pageOf(events, limit);
  return { events: shown, next: toCursor("history", last && positionOf(last)) };
}

/** Changes of the same second are in the order in which they were stored. */
function positionOf(event: KeyEvent): Position<number> {
  const id = event.kind === "ban" ? event.ban.id : String(event.change.id).padStart(16, "0");
  return { value: Date.parse(event.at) / 1000, id };
}
