/** Asks D1 and a limiter whether they answer. */
import { type DatabaseEnv, openDatabase } from "../db/database.ts";
import { findSchemaProblem } from "../db/schema-problem.ts";
import { logError } from "../platform/log.ts";
import { withDeadline } from "../platform/with-timeout.ts";
import { countOutdatedKeys } from "./outdated-keys-sql.ts";
import type { KeyLimiterEnv } from "./reach-limiter.ts";
import { keeperOf } from "./unreported-keys.ts";

export const CHECK_TIMEOUT_MS = 2_000;

export type Health = Awaited<ReturnType<typeof healthOf>>;

/** `outdatedKeys` and `unreportedKeys` count keys whose limiters have not been told of a change, or could not report. */
export async function healthOf(env: DatabaseEnv & KeyLimiterEnv) {
  const [database, limiter] = await Promise.all([
    answerOf("database", askDatabase(env)),
    answerOf("limiter", keeperOf(env).listUnreported(0)),
  ]);
  const away = [...(database ? [] : ["database"]), ...(limiter ? [] : ["limiter"])];
  const { problem, outdatedKeys = 0 } = database ?? {};
  const isUsable = problem === undefined || problem.kind === "newer";
  return {
    /** What keeps the service from its work, in sentences. */
    failures: [
      ...(away.length > 0 ? [`Cannot be reached: ${away.join(", ")}.`] : []),
      ...(isUsable ? [] : [problem.says]),
    ],
    reached: { database: database !== undefined && isUsable, limiter: limiter !== undefined },
    // A database of a newer version may serve all requests, so it is no failure.
    warning: isUsable ? problem?.says : undefined,
    outdatedKeys,
    unreportedKeys: limiter?.count ?? 0,
  };
}

async function askDatabase(env: DatabaseEnv) {
  const problem = await findSchemaProblem(env);
  const hasTables = problem === undefined || problem.kind === "newer";
  return { problem, outdatedKeys: hasTables ? await countOutdatedKeys(openDatabase(env.DB)) : 0 };
}

/** Returns undefined if there is no answer. */
async function answerOf<Answer>(name: string, call: Promise<Answer>): Promise<Answer | undefined> {
  try {
    return await withDeadline(call, CHECK_TIMEOUT_MS);
  } catch (thrown) {
    logError("health_check_failed", thrown, { name });
    return undefined;
  }
}
