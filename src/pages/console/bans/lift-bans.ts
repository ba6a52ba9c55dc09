/** Lifts bans of a key, one call for each. */
import { type AdminClient, jsonOf } from "../admin-client.ts";
import { OPEN_AGAIN } from "../changes.ts";
import { Problem, withConflictAdvice } from "../problem.ts";

type Lifting = {
  readonly keyId: string;
  /** Those that the operator was shown. Without any, only the escalation ends. */
  readonly bans: readonly { readonly id: string }[];
  readonly forgive: boolean;
};

const CONFLICT_ADVICE = `An earlier try of yours whose answer was lost may have lifted it. ${OPEN_AGAIN}`;

/** The last answer. A conflict at the first ban ends it, before anything is changed. A lift whose answer was lost is one. */
export async function liftBans(client: AdminClient, { keyId, bans, forgive }: Lifting) {
  const lift = (ban: string | undefined) =>
    jsonOf(
      client.keys[":id"].ban.$delete({ param: { id: keyId }, json: { forgive, ban } }),
      "lifted",
      "effective",
    );
  const ids = bans.length === 0 ? [undefined] : bans.map(({ id }) => id);
  let answer: Awaited<ReturnType<typeof lift>> | undefined;
  let made: Problem | undefined;
  for (const [index, id] of ids.entries()) {
    try {
      answer = await lift(id);
    } catch (thrown) {
      if (!(thrown instanceof Problem)) throw thrown;
      const { kind, message, advice } = thrown;
      if (kind === "made") made = thrown;
      else if (index === 0) throw withConflictAdvice(thrown, CONFLICT_ADVICE);
      // The one before is lifted, so that "nothing was changed" would be wrong. A conflict: this one has ended meanwhile.
      else if (kind !== "conflict")
        throw new Problem("failed", `One ban is lifted. Of the other one: ${message}`, advice);
    }
  }
  if (answer === undefined) throw made;
  return answer;
}
