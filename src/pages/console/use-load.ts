/** Hooks: data of the admin API that is loaded, reloaded and refreshed, and the present time. */
import { useCallback, useEffect, useReducer, useRef, useState } from "preact/hooks";
import { useAdmin } from "./admin-context.ts";
import { orderedLoads } from "./load-order.ts";
import { asProblem, type Problem } from "./problem.ts";
import { refusalOf } from "./sign-in.tsx";
import { onVisit } from "./visits.ts";

export type Loaded<T> = {
  /** The last data, also while it is loaded again. */
  readonly data: T | undefined;
  readonly problem: Problem | undefined;
  readonly reload: () => Promise<void>;
};

/** `changes` counts the changes made on the page, after each of which it is refreshed. */
type Refreshes = { readonly everyMs?: number | undefined; readonly changes?: number };

/**
 * Loads again whenever `dependency` changes. Refreshes after each change, when the page is visited again, and every `everyMs` while
 * the tab is visible. A refused refresh does not sign out: the page may show a secret that was not copied yet.
 */
export function useLoad<T>(
  load: () => Promise<T>,
  dependency: string,
  { everyMs, changes }: Refreshes = {},
): Loaded<T> {
  const { session, signOut } = useAdmin();
  const [state, setState] = useState<State<T>>({ dependency });
  const [begin] = useState(orderedLoads);
  const latest = useRef({ load, dependency });
  latest.current = { load, dependency };

  const start = useCallback(
    async (isRefresh: boolean) => {
      const asked = latest.current;
      const mayShow = begin();
      const isShown = (hasFailed: boolean) =>
        latest.current.dependency === asked.dependency && mayShow(hasFailed);
      try {
        const data = await asked.load();
        if (isShown(false)) setState({ dependency: asked.dependency, data });
      } catch (thrown) {
        const failed = asProblem(thrown);
        const isRefused = failed.kind === "unauthorized";
        if (isRefused && !isRefresh) signOut(true);
        else if (isShown(true)) {
          const problem = isRefused ? refusalOf(session) : failed;
          setState((before) => ({ ...keptOf(before, asked.dependency), problem }));
        }
      }
    },
    [session, signOut, begin],
  );
  const reload = useCallback(() => start(false), [start]);

  // A visit changes the dependency in the same rendering, if it does: that is one load.
  const [visits, countVisit] = useReducer((count: number) => count + 1, 0);
  useEffect(() => onVisit(() => countVisit(undefined)), []);

  const loadedFor = useRef<string | undefined>(undefined);
  useEffect(() => {
    const isRefresh = loadedFor.current === dependency;
    loadedFor.current = dependency;
    void start(isRefresh);
  }, [dependency, changes, visits, start]);

  const { data, problem } = keptOf(state, dependency);
  // The service counts refused tokens, and refuses an address that sends many.
  const refreshesMs = problem?.kind === "unauthorized" ? undefined : everyMs;
  useEffect(
    () => (refreshesMs === undefined ? undefined : whileVisible(refreshesMs, () => start(true))),
    [refreshesMs, start],
  );
  return { data, problem, reload };
}

type State<T> = { readonly dependency: string; readonly data?: T; readonly problem?: Problem };

/** Data of another dependency is not shown. */
function keptOf<T>(state: State<T>, dependency: string): State<T> {
  return state.dependency === dependency ? state : { dependency };
}

/** Calls `refresh` at this interval. A hidden tab causes no requests; when it is shown again, it is refreshed at once. */
function whileVisible(everyMs: number, refresh: () => Promise<void>): () => void {
  const refreshIfVisible = () => {
    if (!document.hidden) void refresh();
  };
  const timer = setInterval(refreshIfVisible, everyMs);
  document.addEventListener("visibilitychange", refreshIfVisible);
  return () => {
    clearInterval(timer);
    document.removeEventListener("visibilitychange", refreshIfVisible);
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
