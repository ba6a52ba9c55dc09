/** Breadth first through every order of a world's events, without a state twice. */
import { hash } from "node:crypto";

export type World<State> = {
  readonly name: string;
  /** What can happen, for readers. */
  readonly scope: string;
  /** How many events one after the other: in `npm test`, and in the whole proof. */
  readonly depth: readonly [quick: number, whole: number];
  readonly start: State;
  /** States with one text are one state. */
  readonly textOf: (state: State) => string;
  /** Each returns the state afterwards, or undefined if it cannot happen. It throws if something is wrong. */
  readonly events: Readonly<Record<string, (state: State) => State | undefined | Promise<State | undefined>>>;
};

export type Result = {
  readonly states: number;
  readonly steps: number;
  /** Whether no event leads to a new state: then every order of any length is covered. */
  readonly isComplete: boolean;
  /** The shortest order of events after which something is wrong, and what. */
  readonly wrong: string | undefined;
};

/** The events that led to a state. States themselves are forgotten once their events were tried. */
type Path = { readonly event: string; readonly before: Path } | undefined;

const textOfPath = (path: Path): string => (path ? `${textOfPath(path.before)}${path.event}; ` : "");

export async function explore<State>(world: World<State>, depth: number): Promise<Result> {
  // Hashes, because the texts of a million states do not fit into memory.
  const keyOf = (state: State) => hash("md5", world.textOf(state), "base64");
  const seen = new Set([keyOf(world.start)]);
  let nodes: readonly { readonly state: State; readonly path: Path }[] = [
    { state: world.start, path: undefined },
  ];
  let steps = 0;
  for (let length = 1; length <= depth && nodes.length > 0; length++) {
    const next: { state: State; path: Path }[] = [];
    const known = seen.size;
    for (const { state: from, path } of nodes) {
      for (const [event, run] of Object.entries(world.events)) {
        steps++;
        try {
          const state = await run(from);
          const key = state === undefined ? undefined : keyOf(state);
          if (state === undefined || key === undefined || seen.has(key)) continue;
          seen.add(key);
          if (length < depth) next.push({ state, path: { event, before: path } });
        } catch (thrown) {
          const wrong = `${textOfPath(path)}${event}: ${thrown instanceof Error ? thrown.message : thrown}`;
          return { states: seen.size, steps, isComplete: false, wrong };
        }
      }
    }
    if (seen.size === known) return { states: seen.size, steps, isComplete: true, wrong: undefined };
    nodes = next;
  }
  return { states: seen.size, steps, isComplete: false, wrong: undefined };
}
