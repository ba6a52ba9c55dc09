/** A hook for a form that calls the admin API: runs once at a time and keeps what went wrong. */
import { useState } from "preact/hooks";
import { useAdmin } from "./admin-context.ts";
import { asProblem, type Problem } from "./problem.ts";

export function useSubmit(run: () => Promise<void>) {
  const { signOut } = useAdmin();
  const [problem, setProblem] = useState<Problem>();
  const [isRunning, setIsRunning] = useState(false);
  const start = async () => {
    setIsRunning(true);
    setProblem(undefined);
    try {
      await run();
    } catch (thrown) {
      const problem = asProblem(thrown);
      if (problem.kind === "unauthorized") signOut(true);
      else setProblem(problem);
    } finally {
      setIsRunning(false);
    }
  };
  const submit = (event: Event) => {
    event.preventDefault();
    void start();
  };
  return { submit, problem, isRunning };
}
