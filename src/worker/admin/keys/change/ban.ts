/** Bans keys and lifts bans. */
import { type SQL, sql } from "drizzle-orm";
import type * as v from "valibot";
import type { Author } from "../../../context.ts";
import { openDatabase } from "../../../db/database.ts";
import { bans } from "../../../db/schema.ts";
import type { NewAlert } from "../../../key/alerts.ts";
import { alertStatements } from "../../../key/alerts.ts";
import { unavailable } from "../../../platform/errors.ts";
import { logEvent } from "../../../platform/log.ts";
import { counted, formatNumber, formatTime } from "../../../text/format.ts";
import { rfc3339 } from "../../../text/time.ts";
import { deliverSoon } from "../../alerts/deliver.ts";
import type { banLifted, banRequest, banSet } from "../../bans/schema.ts";
import {
  type BanRow,
  ofKeyAndLive,
  replaceLiveBans,
  selectLiveBanSummary,
  toBanView,
} from "../../bans/sql.ts";
import { type ChangeInput, insertRow, make } from "../../change.ts";
import { refreshAtOnce } from "../../refresh-limiters.ts";
import { lastHours, listHours, reportNow, sumOf } from "../../usage/service.ts";
import type { KeyView } from "../schema.ts";
import { type KeyRow, keyTarget, requireKey } from "../sql.ts";

/** Replaces the live bans, also by a shorter ban, so that an operator can correct a ban. */
export function banKey(
  input: ChangeInput<v.InferOutput<typeof banRequest>>,
): Promise<v.InferOutput<typeof banSet>> {
  const { author, body } = input;
  return setBan(input, author.at + body.seconds, body.reason);
}

/** `refused` is SQL: why the ban cannot be set. */
export async function setBan(
  input: BanInput,
  endsAt: number,
  reason: string,
  refused?: SQL,
): Promise<v.InferOutput<typeof banSet>> {
  const { id: keyId, author } = input;
  const of = { id: `ban_${crypto.randomUUID()}`, keyId, cause: "operator", reason, strikes: 0 } as const;
  const ban = { ...of, startedAt: author.at, endsAt };
  const { ended, name, ...answer } = await changeBans(input, ban, refused);
  const row = { ...ban, liftedAt: null, liftedBy: null };
  return { ...answer, ban: toBanView(row, name, author.at), replaced: ended };
}

/** Ends the key's live bans and pardons the last one for strikes: the next one does not double it. */
export async function liftBan(input: BanInput, refused?: SQL): Promise<v.InferOutput<typeof banLifted>> {
  const { ended, name: _, ...answer } = await changeBans(input, null, refused);
  const [longest = null] = ended.toSorted((a, b) => b.endsAt.localeCompare(a.endsAt));
  return { ...answer, lifted: longest };
}

type BanInput = Omit<ChangeInput, "body">;

/** Ends the live bans. `ban` begins in their place, or none. */
async function changeBans(input: BanInput, ban: NewBan | null, refused?: SQL) {
  const { env, author, id: keyId, isDryRun } = input;
  const isReported = await reportNow(env, await requireKey(openDatabase(env.DB), keyId));
  const alert = ban === null ? alertOfLift(author) : alertOfSet(ban, author.actor);
  const customerId = sql`(select customer_id from api_keys where id = ${keyId})`;
  const isBanned = sql`exists (select 1 from bans where ${ofKeyAndLive(keyId, author.at)})`;
  const target = keyTarget(keyId, author.at);
  const { now, entry, returned, says } = await make<KeyRow, KeyView, BanRow>(input, target, {
    call: ban === null ? "bans.lift" : "bans.set",
    before: selectLiveBanSummary(keyId, author.at),
    after: ban && { ban: ban.id, cause: ban.cause, reason: ban.reason, endsAt: rfc3339(ban.endsAt) },
    ...(refused && { refused }),
    ...(ban === null && { keeps: sql`iif(${isBanned}, null, 'is not banned')` }),
    statements: (made) => [
      ...replaceLiveBans(keyId, ban, author, made),
      ...(ban === null ? [] : [insertRow(bans, { ...ban, customerId })]),
      ...alertStatements(env, keyId, alert),
    ],
  });
  const ended = returned.map((row) => toBanView(row, now.name, author.at));
  const answer = { version: now.version, name: now.name, ended };
  if (isDryRun) return { ...answer, effective: "immediately", says: says() } as const;
  if (entry === undefined && !isReported) {
    const message = "The limiter could not report its bans, so nothing was changed. Please try again.";
    throw unavailable(message, undefined);
  }
  if (entry !== undefined) {
    deliverSoon(env);
    const { requestId } = author;
    if (ban === null) logEvent("ban_lifted", { requestId, keyId, bans: returned.length });
    else logEvent("ban_set", { requestId, keyId, ban: ban.id });
  }
  // The limiter is told even if nothing changed, because an earlier lift may not have reached it.
  const refreshed = await refreshAtOnce(env, { key: keyId });
  const effective = isReported ? refreshed : "within minutes";
  return { ...answer, effective, says: says(effective) };
}

/** Limiters count by the hour, so the preview counts the present hour and the hour before. */
export async function previewBan(input: ChangeInput<v.InferOutput<typeof banRequest>>): Promise<string[]> {
  const { env, author, id, body } = input;
  await banKey({ ...input, isDryRun: true });
  const db = openDatabase(env.DB);
  const isReported = await reportNow(env, await requireKey(db, id));
  const key = await requireKey(db, id); // the report may have begun a ban
  const range = lastHours(2);
  const { admitted, refused, refusedWhileBanned } = sumOf(await listHours(db, { ...range, key: id }));
  const sent = counted(admitted + refused + refusedWhileBanned, "request");
  const reported = isReported
    ? ""
    : " The key's limiter cannot be reached, so the latest requests are missing.";
  return [
    `Every request of ${key.name} is refused until ${formatTime(rfc3339(author.at + body.seconds))}.`,
    `Since ${formatTime(rfc3339(range.fromSeconds))} the key has sent ${sent}: ${formatNumber(admitted)} admitted, ${formatNumber(refused + refusedWhileBanned)} refused.${reported}`,
    ...(key.bannedUntil === null ? [] : [`The ban until ${formatTime(key.bannedUntil)} is replaced.`]),
  ];
}

type NewBan = Pick<BanRow, "id" | "keyId" | "cause" | "strikes" | "startedAt" | "endsAt"> & {
  readonly reason: string;
};

function alertOfSet({ id, startedAt, ...ban }: NewBan, actor: string): NewAlert {
  const endsAt = rfc3339(ban.endsAt);
  return {
    id,
    type: "ban.set",
    at: startedAt,
    says: `is banned until ${formatTime(endsAt)} by ${actor}: ${ban.reason}`,
    data: { ban: id, actor, reason: ban.reason, endsAt },
  };
}

function alertOfLift({ requestId, actor, at }: Author): NewAlert {
  return {
    id: `lift_${requestId}`,
    type: "ban.lifted",
    at,
    says: `is no longer banned: ${actor} lifted the ban.`,
    data: { actor },
  };
}
