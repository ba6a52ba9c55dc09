/** A hook for a form that calls the admin API: runs once at a time and keeps what went wrong. */
import { useEffect, useState } from "preact/hooks";
import { useAdmin } from "./admin-context.ts";
import { asProblem, type Problem } from "./problem.ts";

/**
 * `run` gets a signal that is aborted when the form is left, by closing its dialog or going to another page. `change` names what the form
 * changes: if it fails after the form was left, it is announced, since silence would mean that it is done. For the same reason, the
 * sign-in page names it after a sign-out meanwhile.
 */
export function useSubmit(run: (left: AbortSignal) => Promise<void>, change?: string) {
  const { session, signOut, warn, underWay } = useAdmin();
  const [leaving] = useState(() => new AbortController());
  useEffect(() => () => leaving.abort(), [leaving]);
  const left = leaving.signal;
  const [problem, setProblem] = useState<Problem>();
  const [running, setRunning] = useState<Running>();
  const start = async () => {
    setRunning({ isChange: change !== undefined });
    setProblem(undefined);
    const changing = change === undefined ? undefined : { name: change };
    if (changing) underWay.add(changing);
    try {
      await run(left);
    } catch (thrown) {
      // Nothing was sent.
      if (left.aborted && thrown === left.reason) return;
      const problem = asProblem(thrown);
      if (problem.kind === "unauthorized") signOut(true);
      else if (!left.aborted) setProblem(problem);
      else if (change !== undefined && !session.ended.aborted)
        warn(`${change}: ${problem.message} ${problem.advice}`);
    } finally {
      if (changing) underWay.delete(changing);
      setRunning(undefined);
    }
  };
  const submit = (event: Event) => {
    event.preventDefault();
    void start();
  };
  return { submit, problem, isRunning: running !== undefined, isChanging: running?.isChange === true };
}

/** As it was submitted: what the form says meanwhile can differ. */
type Running = { readonly isChange: boolean };
