/** D1: the sessions of the console. */
import { and, eq, gt, sql } from "drizzle-orm";
import { type Database, rfc3339Sql } from "../../db/database.ts";
import { consoleSessions } from "../../db/schema.ts";
import { HOUR_SECONDS, rfc3339 } from "../../text/time.ts";
import type { Kind, Target } from "../change.ts";
import type { SessionView } from "./schema.ts";

export const SESSION_SECONDS = 12 * HOUR_SECONDS;
const IDLE_SECONDS = 2 * HOUR_SECONDS;
const MAX_SESSIONS_SHOWN = 500;

type ConsoleSession = typeof consoleSessions.$inferSelect;
/** A session whose times are Unix seconds. */
type SessionRow = Pick<SessionView, "id" | "operator"> & Pick<ConsoleSession, "seenAt" | "endsAt">;

const SELECT = sql`select id, name as operator, seen_at as seenAt, ends_at as endsAt from console_sessions`;

/** Finds a session that has not ended. */
export async function findSession(
  db: Database,
  idHash: string,
  nowSeconds: number,
): Promise<ConsoleSession | undefined> {
  return db
    .select()
    .from(consoleSessions)
    .where(and(isSession(idHash), isLive(nowSeconds)))
    .get();
}

export async function listSessions(db: Database, nowSeconds: number): Promise<SessionView[]> {
  const rows = await db.all<SessionRow>(sql`
    ${SELECT} where ${isLive(nowSeconds)} order by ends_at desc, id limit ${MAX_SESSIONS_SHOWN}`);
  return rows.map(toSessionView);
}

function isLive(nowSeconds: number) {
  const { endsAt, seenAt } = consoleSessions;
  return and(gt(endsAt, nowSeconds), gt(seenAt, nowSeconds - IDLE_SECONDS));
}

const SESSIONS = {
  table: consoleSessions,
  noun: "session",
  title: sql`console_sessions.id`,
  members: { operator: consoleSessions.name, endsAt: rfc3339Sql(sql`ends_at`) },
} satisfies Kind;

export function sessionTarget(id: string): Target<SessionRow, SessionView> {
  return { kind: SESSIONS, id, select: sql`${SELECT} where id = ${id}`, view: toSessionView };
}

function toSessionView({ id, operator, seenAt, endsAt }: SessionRow): SessionView {
  const since = rfc3339(endsAt - SESSION_SECONDS);
  return { id, operator, since, lastUsedAt: rfc3339(seenAt), endsAt: rfc3339(endsAt) };
}

export function insertSession(db: Database, session: ConsoleSession) {
  return db.insert(consoleSessions).values(session);
}

export function updateSeenAt(db: Database, idHash: string, seenAt: number) {
  return db.update(consoleSessions).set({ seenAt }).where(isSession(idHash));
}

export function deleteSession(db: Database, idHash: string) {
  return db.delete(consoleSessions).where(isSession(idHash));
}

function isSession(idHash: string) {
  return eq(consoleSessions.idHash, idHash);
}
