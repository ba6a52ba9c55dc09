/** A limiter that several keys share: their objects ask it before they count a request. */
import { callLimiter, type StubOptions } from "./call-limiter.ts";
import { isRefusal, type Request, type Verdict } from "./core/decide.ts";
import { costIn, costsOf, exhaustedWindow, type Quota } from "./core/windows.ts";

/** Less than callers wait for the key's object by default. */
const TIMEOUT_MS = 1_500;

/** The binding of the class whose limiters are shared. */
export type SharedNamespace = {
  getByName(name: string, options?: StubOptions): SharedLimiter;
};

type SharedLimiter = {
  admitAll(calls: readonly Request[]): Promise<readonly Verdict[]>;
  inspect(): Promise<{ readonly quota: Quota } | null>;
};

/** What a key has decided by itself. */
type Own = { readonly verdict: Verdict; readonly call: Request };

/** For a request: what the shared limiter says about it, and its windows then. */
export type Shared = { readonly verdict: Verdict; readonly quota: Quota };

/**
 * Asks for the requests that the key would admit. One that the key refuses is not asked for: if it then had the
 * place of one that the shared limiter has refused, the shared limiter would refuse it, too.
 */
export async function askShared(
  namespace: SharedNamespace,
  name: string,
  own: readonly Own[],
): Promise<readonly Shared[]> {
  const ask = <T>(call: (limiter: SharedLimiter) => Promise<T>) =>
    callLimiter((options) => namespace.getByName(name, options), call, TIMEOUT_MS);
  const wanted = own.flatMap(({ verdict, call: { cost } }) =>
    verdict.kind === "admitted" ? [{ cost }] : [],
  );
  const verdicts = wanted.length === 0 ? [] : await ask((limiter) => limiter.admitAll(wanted));
  const answers = verdicts.map((verdict) => ({ verdict, quota: "quota" in verdict ? verdict.quota : [] }));
  const refusal = answers.find(({ verdict }) => isRefusal(verdict));
  let quota = answers.at(-1)?.quota ?? [];
  if (wanted.length === 0 && own.some(({ verdict }) => verdict.kind === "limited")) {
    // Only for the headers.
    const inspection = await ask((limiter) => limiter.inspect()).catch(() => null);
    quota = inspection?.quota ?? [];
  }
  let place = 0;
  return own.map(({ verdict }) => {
    if (verdict.kind !== "admitted") return { verdict: refusal?.verdict ?? verdict, quota };
    const answer = answers[place++];
    if (answer === undefined) throw new Error("the shared limiter has fewer answers than calls");
    return answer;
  });
}

/** The verdict with the windows of both. If both refuse, the last end counts. A banned key shows its own. */
export function withQuota(verdict: Verdict, { cost }: Request, shared: Shared | undefined): Verdict {
  if (shared === undefined || verdict.kind === "unknown" || verdict.kind === "banned") return verdict;
  const quota = [...verdict.quota, ...shared.quota];
  const costs = costsOf(cost);
  const window = verdict.kind === "limited" && exhaustedWindow(quota, costs);
  if (!window) return { ...verdict, quota };
  const retryAfterMs = costIn(costs, window) > window.limit ? null : window.endsAtMs - verdict.nowMs;
  return { ...verdict, quota, window, retryAfterMs };
}
