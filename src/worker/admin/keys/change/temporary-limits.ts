/** Gives keys other limits for a time, and ends them. */
import { sql } from "drizzle-orm";
import type * as v from "valibot";
import { openDatabase } from "../../../db/database.ts";
import { invalidMembers } from "../../../platform/errors.ts";
import { formatNumber, formatTime } from "../../../text/format.ts";
import { midnightAfter, rfc3339 } from "../../../text/time.ts";
import { type ChangeInput, type ChangeOfRows, make, requireTarget, updateRows } from "../../change.ts";
import { LIMITS, type LimitName, limitChange } from "../../plans/schema.ts";
import { planTarget } from "../../plans/sql.ts";
import { refreshAtOnce } from "../../refresh-limiters.ts";
import { keyRefusal } from "../../refusal-sql.ts";
import { readLive } from "../find.ts";
import type { temporaryLimits, updatedKey } from "../schema.ts";
import { KEYS, keyTarget } from "../sql.ts";

type TemporaryLimits = v.InferOutput<typeof temporaryLimits>;
type UpdatedKey = v.InferOutput<typeof updatedKey>;

/** `after` has the limits and `until`, or is null. It is a value, or SQL of a JSON text. */
export function temporaryLimitsTo(
  call: "keys.limit_temporarily" | "keys.end_temporary_limits",
  after?: unknown,
): ChangeOfRows {
  return {
    ...{ call, before: ["temporaryLimits"], after, refused: keyRefusal(sql`'{}'`) },
    statements: (made) => [
      updateRows(KEYS, made, [], {
        temporaryRequestsPerMinute: sql`made.after ->> 'requestsPerMinute'`,
        temporaryRequestsPerDay: sql`made.after ->> 'requestsPerDay'`,
        temporaryUntil: sql`unixepoch(made.after ->> 'until')`,
      }),
    ],
  };
}

/** Replaces the temporary limits of the key. The first of the `days` is the UTC day of the request. */
export async function limitTemporarily(input: ChangeInput<TemporaryLimits>): Promise<UpdatedKey> {
  const { env, author, id, body, isDryRun = false } = input;
  const { requestsPerMinute = null, requestsPerDay = null, days, reason } = body;
  if (requestsPerMinute === null && requestsPerDay === null)
    throw invalidMembers(...LIMITS.map((member) => ({ member, reason: "at least one limit is required" })));
  // Temporary limits end at a midnight: then a refusal by a window never ends before the window does.
  const until = rfc3339(midnightAfter(author.at, days));
  const after = { requestsPerMinute, requestsPerDay, until, reason };
  const change = temporaryLimitsTo("keys.limit_temporarily", after);
  const { now, says } = await make(input, keyTarget(id, author.at), {
    ...change,
    refused: sql`coalesce(${change.refused}, iif(next_plan_from > ${author.at}, 'waits for its next plan, and cannot have temporary limits before: change the plan now, or keep the plan of now', null))`,
  });
  if (isDryRun) return { ...now, effective: "immediately", says: says() };
  const effective = await refreshAtOnce(env, { key: id });
  return { ...now, effective, says: says(effective) };
}

export async function previewTemporaryLimits(input: ChangeInput<TemporaryLimits>): Promise<string[]> {
  const { env, author, body } = input;
  const key = await limitTemporarily({ ...input, isDryRun: true });
  const plan = await requireTarget(openDatabase(env.DB), planTarget(key.plan));
  const permanent = (name: LimitName) => key[name] ?? plan[name] ?? 0;
  const live = await readLive(env, key, "inspect");
  const perDay = body.requestsPerDay ?? permanent("requestsPerDay");
  const isUsedUp = live !== null && live.day.used >= perDay;
  return [
    `Until ${formatTime(rfc3339(midnightAfter(author.at, body.days)))}, ${key.name} has other limits.`,
    ...LIMITS.map((name) => {
      const limit = permanent(name);
      return `${limitChange(name, key.limits[name], body[name] ?? limit)}. Permanent: ${formatNumber(limit)}.`;
    }),
    ...(live === null ? [] : [`Used today: ${formatNumber(live.day.used)} of ${formatNumber(perDay)}.`]),
    ...(isUsedUp ? ["Every request of the key is refused until midnight UTC."] : []),
  ];
}

/** Without temporary limits this changes nothing and writes no audit row. */
export async function endTemporaryLimits(input: ChangeInput): Promise<UpdatedKey> {
  const { env, author, id } = input;
  const { now, says } = await make(input, keyTarget(id, author.at), {
    ...temporaryLimitsTo("keys.end_temporary_limits"),
    keeps: sql`iif(temporary_until > ${author.at}, null, 'has no temporary limits')`,
  });
  const effective = await refreshAtOnce(env, { key: id });
  return { ...now, effective, says: says(effective) };
}
