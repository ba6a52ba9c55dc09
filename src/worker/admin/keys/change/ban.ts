/** Bans keys and lifts bans. */
import { sql } from "drizzle-orm";
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
import { type ChangeInput, insertRow, make, requireTarget } from "../../change.ts";
import { refreshAtOnce } from "../../refresh-limiters.ts";
import { lastHours, listHours, reportNow, sumOf } from "../../usage/service.ts";
import type { KeyView } from "../schema.ts";
import { type KeyRow, keyTarget, requireKey } from "../sql.ts";

/** Replaces the live bans, also by a shorter ban, so that an operator can correct a ban. */
export async function banKey(
  input: ChangeInput<v.InferOutput<typeof banRequest>>,
): Promise<v.InferOutput<typeof banSet>> {
  const { env, author, id: keyId, body } = input;
  const key = await requireKey(openDatabase(env.DB), keyId);
  const isReported = await reportNow(env, key);
  const { seconds, reason } = body;
  const id = `ban_${crypto.randomUUID()}`;
  const cause = "operator";
  const endsAt = author.at + seconds;
  const ban = { id, keyId, cause, reason, strikes: 0, startedAt: author.at, endsAt } as const;
  const { now, returned } = await make<KeyRow, KeyView, BanRow>(input, keyTarget(keyId, author.at), {
    call: "bans.set",
    before: selectLiveBanSummary(keyId, author.at),
    after: { ban: id, cause, reason, endsAt: rfc3339(endsAt) },
    statements: [
      ...replaceLiveBans(keyId, ban, author),
      insertRow(bans, ban),
      ...alertStatements(env, keyId, alertOfSet(ban, author.actor)),
    ],
  });
  deliverSoon(env);
  logEvent("ban_set", { requestId: author.requestId, keyId, ban: id });
  const effective = await refreshAtOnce(env, { key: keyId });
  return {
    version: now.version,
    ban: toBanView({ ...ban, liftedAt: null, liftedBy: null }, key.name, author.at),
    replaced: returned.map((row) => toBanView(row, key.name, author.at)),
    effective: isReported ? effective : "within minutes",
  };
}

/** Limiters count by the hour, so the preview counts the present hour and the hour before. */
export async function previewBan(input: ChangeInput<v.InferOutput<typeof banRequest>>): Promise<string[]> {
  const { env, author, id, body, expected } = input;
  const db = openDatabase(env.DB);
  const isReported = await reportNow(env, await requireTarget(db, keyTarget(id, author.at), expected));
  const key = await requireKey(db, id); // the report may have begun a ban
  const range = lastHours(2);
  const { admitted, refused, refusedWhileBanned } = sumOf(await listHours(db, id, range));
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
export async function liftBan(input: ChangeInput): Promise<v.InferOutput<typeof banLifted>> {
  const { env, author, id: keyId } = input;
  const key = await requireKey(openDatabase(env.DB), keyId);
  const isReported = await reportNow(env, key);
  const { now, isMade, returned } = await make<KeyRow, KeyView, BanRow>(input, keyTarget(keyId, author.at), {
    call: "bans.lift",
    before: selectLiveBanSummary(keyId, author.at),
    onlyIf: sql`exists (select 1 from bans where ${ofKeyAndLive(keyId, author.at)})`,
    statements: [
      ...replaceLiveBans(keyId, null, author),
      ...alertStatements(env, keyId, alertOfLift(author)),
    ],
  });
  if (!isMade && !isReported) {
    const message = "The limiter could not report its bans, so nothing was changed. Please try again.";
    throw unavailable(message, undefined);
  }
  if (isMade) {
    deliverSoon(env);
    logEvent("ban_lifted", { requestId: author.requestId, keyId, bans: returned.length });
  }
  const [longest] = returned.toSorted((a, b) => b.endsAt - a.endsAt);
  // The limiter is told even if nothing changed, because an earlier lift may not have reached it.
  const effective = await refreshAtOnce(env, { key: keyId });
  return {
    version: now.version,
    lifted: longest ? toBanView(longest, key.name, author.at) : null,
    effective: isReported ? effective : "within minutes",
  };
}

type BanOfOperator = Pick<BanRow, "id" | "startedAt" | "endsAt"> & { readonly reason: string };

function alertOfSet({ id, startedAt, ...ban }: BanOfOperator, actor: string): NewAlert {
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
