/** A hook for a form that calls the admin API: runs once at a time and keeps what went wrong. */
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { type ChangeUnderWay, useAdmin } from "./admin-context.ts";
import { asProblem, mayBeMade, type Problem } from "./problem.ts";

/** What a form changes, and the calls before and after that change nothing. */
export type Change = ChangeUnderWay & {
  /** It takes several calls: those before a refused one have changed something. */
  readonly isInParts?: boolean;
  /** Throws if the change must not be made. */
  readonly look?: ((left: AbortSignal) => Promise<void>) | undefined;
  /** Shows how it is now. Also called after a failure, since the change can have been made: its answer can be lost. */
  readonly onChanged?: (() => Promise<void>) | undefined;
  /** Called when the change is made and shown. */
  readonly onDone?: () => void;
};

/**
 * `run` gets a signal that is aborted when the form is left, by closing its dialog or going to another page. If a `change` fails after the
 * form was left, a message says so, since silence would mean that it is done. For the same reason, the sign-in page names it after a
 * sign-out while it was `run`, or after a failure that leaves open whether it was made.
 */
export function useSubmit(run: (left: AbortSignal) => Promise<void>, change?: Change) {
  const { session, signOut, warn, underWay } = useAdmin();
  const [leaving] = useState(() => new AbortController());
  const left = leaving.signal;
  const [problem, setProblem] = useState<Problem>();
  const [running, setRunning] = useState<Running>();
  // Failed tries that may be made nevertheless. The next one can be of another change, and settles only those of its name.
  const uncertain = useRef(new Set<Change>());
  // The form until it is left, and its running tries. Then the operator knows what failed.
  const users = useRef(1);
  const leave = useCallback(() => {
    users.current -= 1;
    if (users.current === 0) for (const tried of uncertain.current) underWay.delete(tried);
  }, [underWay]);
  useEffect(
    () => () => {
      leaving.abort();
      leave();
    },
    [leaving, leave],
  );
  const start = async () => {
    users.current += 1;
    setRunning({ isChange: change !== undefined });
    setProblem(undefined);
    const end = () => change && underWay.delete(change);
    try {
      await change?.look?.(left);
      if (change) underWay.add(change);
      await run(left);
      for (const tried of uncertain.current)
        if (tried.name === change?.name) {
          uncertain.current.delete(tried);
          underWay.delete(tried);
        }
      // A dialog covers a new secret until it closes.
      if (!change?.makesSecret) end();
      await change?.onChanged?.();
      change?.onDone?.();
      setRunning(undefined);
    } catch (thrown) {
      setRunning(undefined);
      // Nothing was sent.
      if (left.aborted && thrown === left.reason) return;
      const problem = asProblem(thrown);
      if (change && underWay.has(change) && mayBeMade(problem, change.isInParts))
        uncertain.current.add(change);
      else end();
      if (problem.kind === "unauthorized") return signOut(true);
      if (!left.aborted) setProblem(problem);
      else if (change && !session.ended.aborted) warn(`${change.name}: ${problem.message} ${problem.advice}`);
      await change?.onChanged?.();
    } finally {
      if (change && !uncertain.current.has(change)) end();
      leave();
    }
  };
  const submit = (event: Event) => {
    event.preventDefault();
    void start();
  };
  const clear = useCallback(() => setProblem(undefined), []);
  return {
    submit,
    problem,
    clear,
    isRunning: running !== undefined,
    isChanging: running?.isChange === true,
  };
}

/** As it was submitted: what the form says meanwhile can differ. */
type Running = { readonly isChange: boolean };
