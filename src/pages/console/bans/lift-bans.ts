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

/** The last answer. A conflict at the first ban ends it, before anything is changed. */
export async function liftBans(client: AdminClient, { keyId, bans, forgive }: Lifting) {
  const lift = (ban: string | undefined) =>
    jsonOf(
      client.keys[":id"].ban.$delete({ param: { id: keyId }, json: { forgive, ban } }),
      "lifted",
      "effective",
    );
  const [first, ...others] = bans;
  let answer = await lift(first?.id).catch((thrown: unknown) => {
    throw withConflictAdvice(thrown, CONFLICT_ADVICE);
  });
  for (const { id } of others) {
    try {
      answer = await lift(id);
    } catch (thrown) {
      if (!(thrown instanceof Problem)) throw thrown;
      const { kind, message, advice } = thrown;
      // The one before is lifted, so that "nothing was changed" would be wrong. A conflict: this one has ended meanwhile.
      if (kind !== "conflict")
        throw new Problem("failed", `One ban is lifted. Of the other one: ${message}`, advice);
    }
  }
  return answer;
}
