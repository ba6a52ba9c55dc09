/** Bans keys and lifts bans. */
import { type SQL, sql } from "drizzle-orm";
import type * as v from "valibot";
import type { Author } from "../../../context.ts";
import { openDatabase } from "../../../db/database.ts";
import { bans } from "../../../db/schema.ts";
import { alertStatements } from "../../../key/alerts.ts";
import type { NewAlert } from "../../../key/alerts-sql.ts";
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
import { type ChangeInput, type ChangeOfRows, insertRow, type Made, make } from "../../change.ts";
import { refreshAtOnce } from "../../refresh-limiters.ts";
import { lastHours, listHours, reportNow, sumOf } from "../../usage/service.ts";
import type { KeyView } from "../schema.ts";
import { type KeyRow, keyTarget, requireKey } from "../sql.ts";

/** The change of a ban. `ban` replaces the live bans of the key, or there is none then. */
function banTo({ env, author, id: keyId }: Pick<ChangeInput, "env" | "author" | "id">, ban: NewBan | null) {
  const alert = ban === null ? alertOfLift(author) : alertOfSet(ban, author.actor);
  const customerId = sql`(select customer_id from api_keys where id = ${keyId})`;
  return {
    call: ban === null ? "bans.lift" : "bans.set",
    before: selectLiveBanSummary(keyId, author.at),
    after: ban && { ban: ban.id, cause: ban.cause, reason: ban.reason, endsAt: rfc3339(ban.endsAt) },
    statements: (made: Made) => [
      ...replaceLiveBans(keyId, ban, author, made),
      ...(ban === null ? [] : [insertRow(bans, { ...ban, customerId })]),
      ...alertStatements(env, keyId, alert),
    ],
  } as const satisfies ChangeOfRows;
}

/** Replaces the live bans, also by a shorter ban, so that an operator can correct a ban. */
export async function banKey(
  input: ChangeInput<v.InferOutput<typeof banRequest>>,
): Promise<v.InferOutput<typeof banSet>> {
  const { author, body } = input;
  return setBan(input, author.at + body.seconds, body.reason);
}

/** `refused` is SQL: why the ban cannot be set. */
export async function setBan(
  input: Omit<ChangeInput, "body">,
  endsAt: number,
  reason: string,
  refused?: SQL,
): Promise<v.InferOutput<typeof banSet>> {
  const { env, author, id: keyId, isDryRun } = input;
  const key = await requireKey(openDatabase(env.DB), keyId);
  const isReported = await reportNow(env, key);
  const times = { startedAt: author.at, endsAt };
  const ban = {
    id: `ban_${crypto.randomUUID()}`,
    keyId,
    cause: "operator",
    reason,
    strikes: 0,
    ...times,
  } as const;
  const change = { ...banTo(input, ban), ...(refused && { refused }) };
  const { now, returned, says } = await make<KeyRow, KeyView, BanRow>(
    input,
    keyTarget(keyId, author.at),
    change,
  );
  const view = {
    version: now.version,
    ban: toBanView({ ...ban, liftedAt: null, liftedBy: null }, key.name, author.at),
    replaced: returned.map((row) => toBanView(row, key.name, author.at)),
  };
  if (isDryRun) return { ...view, effective: "immediately", says: says() };
  deliverSoon(env);
  logEvent("ban_set", { requestId: author.requestId, keyId, ban: ban.id });
  const refreshed = await refreshAtOnce(env, { key: keyId });
  const effective = isReported ? refreshed : "within minutes";
  return { ...view, effective, says: says(effective) };
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

/** Ends the key's live bans and pardons the last one for strikes: the next one does not double it. */
export async function liftBan(
  input: Omit<ChangeInput, "body">,
  refused?: SQL,
): Promise<v.InferOutput<typeof banLifted>> {
  const { env, author, id: keyId, isDryRun } = input;
  const key = await requireKey(openDatabase(env.DB), keyId);
  const isReported = await reportNow(env, key);
  const { now, entry, returned, says } = await make<KeyRow, KeyView, BanRow>(
    input,
    keyTarget(keyId, author.at),
    {
      ...{ ...banTo(input, null), ...(refused && { refused }) },
      keeps: sql`iif(exists (select 1 from bans where ${ofKeyAndLive(keyId, author.at)}), null, 'is not banned')`,
    },
  );
  const [longest] = returned.toSorted((a, b) => b.endsAt - a.endsAt);
  const view = { version: now.version, lifted: longest ? toBanView(longest, key.name, author.at) : null };
  if (isDryRun) return { ...view, effective: "immediately", says: says() };
  if (entry === undefined && !isReported) {
    const message = "The limiter could not report its bans, so nothing was changed. Please try again.";
    throw unavailable(message, undefined);
  }
  if (entry !== undefined) {
    deliverSoon(env);
    logEvent("ban_lifted", { requestId: author.requestId, keyId, bans: returned.length });
  }
  // The limiter is told even if nothing changed, because an earlier lift may not have reached it.
  const refreshed = await refreshAtOnce(env, { key: keyId });
  const effective = isReported ? refreshed : "within minutes";
  return { ...view, effective, says: says(effective) };
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
