/** Signs an operator out of the console. */
import { sql } from "drizzle-orm";
import type * as v from "valibot";
import { type ChangeInput, make } from "../change.ts";
import type { endedSession } from "./schema.ts";
import { sessionTarget } from "./sql.ts";

/** Each request of the console looks for its session, so the next one finds none. */
export async function endSession(
  input: Pick<ChangeInput, "env" | "author" | "id" | "expected">,
): Promise<v.InferOutput<typeof endedSession>> {
  const { now, says } = await make(input, sessionTarget(input.id), {
    ...{ call: "sessions.end", before: ["operator", "endsAt"], removes: true },
    statements: () => [{ head: sql`delete from console_sessions`, where: sql`id = ${input.id}` }],
  });
  return { ...now, says: says() };
}
