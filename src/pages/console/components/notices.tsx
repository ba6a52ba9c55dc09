/** Messages: what went wrong and what to do, and that something is being loaded. */
import type { ComponentChildren } from "preact";
import type { Problem } from "../problem.ts";
import type { Loaded } from "../use-load.ts";

export function ProblemNotice({
  problem,
  retry,
}: {
  readonly problem: Problem;
  readonly retry?: (() => Promise<void>) | undefined;
}) {
  return (
    <div class="notice bad" role="alert">
      <p>
        <strong>{problem.message}</strong> {problem.advice}
      </p>
      {retry && (
        <button type="button" class="button small" onClick={() => void retry()}>
          {problem.kind === "conflict" ? "Reload" : "Try again"}
        </button>
      )}
    </div>
  );
}

/** What was loaded; until then, or if that failed, a message. Data that could not be refreshed stays, below the message. */
export function WhenLoaded<T>({
  loaded,
  children,
}: {
  readonly loaded: Loaded<T>;
  readonly children: (data: T) => ComponentChildren;
}) {
  const { data, problem, reload } = loaded;
  return (
    <>
      {problem && <ProblemNotice problem={problem} retry={reload} />}
      {data !== undefined && children(data)}
      {data === undefined && !problem && (
        <p class="muted" role="status">
          Loading…
        </p>
      )}
    </>
  );
}
