/** Hooks: data of the admin API that is loaded, reloaded and refreshed, and the present time. */
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { useAdmin } from "./admin-context.ts";
import { orderedLoads } from "./load-order.ts";
import { asProblem, type Problem } from "./problem.ts";

export type Loaded<T> = {
  /** The last data, also while it is loaded again. */
  readonly data: T | undefined;
  readonly problem: Problem | undefined;
  readonly reload: () => Promise<void>;
};

/** Loads again whenever `dependency` changes, and every `everyMs` while the tab is visible. */
export function useLoad<T>(load: () => Promise<T>, dependency: string, everyMs?: number): Loaded<T> {
  const { signOut } = useAdmin();
  const [state, setState] = useState<State<T>>({ dependency });
  const [begin] = useState(orderedLoads);
  const latest = useRef({ load, dependency });
  latest.current = { load, dependency };

  const reload = useCallback(async () => {
    const asked = latest.current;
    const mayShow = begin();
    const isShown = (hasFailed: boolean) =>
      latest.current.dependency === asked.dependency && mayShow(hasFailed);
    try {
      const data = await asked.load();
      if (isShown(false)) setState({ dependency: asked.dependency, data });
    } catch (thrown) {
      const problem = asProblem(thrown);
      if (problem.kind === "unauthorized") signOut(true);
      else if (isShown(true)) {
        setState((before) => ({ ...keptOf(before, asked.dependency), problem }));
      }
    }
  }, [signOut, begin]);

  useEffect(() => {
    void reload();
  }, [dependency, reload]);
  useEffect(() => (everyMs === undefined ? undefined : whileVisible(everyMs, reload)), [everyMs, reload]);

  const { data, problem } = keptOf(state, dependency);
  return { data, problem, reload };
}

type State<T> = { readonly dependency: string; readonly data?: T; readonly problem?: Problem };

/** Data of another dependency is not shown. */
function keptOf<T>(state: State<T>, dependency: string): State<T> {
  return state.dependency === dependency ? state : { dependency };
}

/** Calls `refresh` at this interval. A hidden tab causes no requests; when it is shown again, it is refreshed at once. */
function whileVisible(everyMs: number, refresh: () => Promise<void>): () => void {
  const timer = setInterval(() => {
    if (!document.hidden) void refresh();
  }, everyMs);
  const onVisibility = () => {
    if (!document.hidden) void refresh();
  };
  document.addEventListener("visibilitychange", onVisibility);
  return () => {
    clearInterval(timer);
    document.removeEventListener("visibilitychange", onVisibility);
  };
}

/** The present time, which changes every second. */
export function useNow(): number {
  const [nowMs, setNowMs] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNowMs(Date.now()), 1_000);
    return () => clearInterval(timer);
  }, []);
  return nowMs;
}
