/** Asks a limiter the rows for which there are settings. */
import { CHANGES } from "./changes.ts";
import { COUNTING } from "./counting.ts";
import { HEADERS } from "./headers.ts";
import type { Row } from "./row.ts";
import { type Key, NotAsked, type Outcome, Session, TooSlow, type World } from "./session.ts";
import type { Settings } from "./settings.ts";

export const ROWS: readonly Row[] = [...COUNTING, ...HEADERS, ...CHANGES];

export type Result = Outcome & Pick<Row, "id" | "sentence" | "source">;

const MAX_ATTEMPTS = 3;

/** Rows that stop nothing are asked at the same time, as most of them wait for windows. */
export async function askAll(
  world: World,
  settings: Settings,
  rows: readonly Row[] = ROWS,
): Promise<Result[]> {
  const made = { usual: keysOf(world, settings.keys), longer: keysOf(world, settings.longer?.keys) };
  const keysFor = ({ needs, keys = 1 }: Row) =>
    (needs?.includes("longer") && settings.longer?.keys ? made.longer : made.usual)(keys);
  const results = new Map<Row, Outcome>();
  const asked: { row: Row; keys: readonly Key[] }[] = [];
  for (const row of rows) {
    const reason = whyNotAsked(row, settings);
    if (reason === undefined) asked.push({ row, keys: await keysFor(row) });
    else results.set(row, { verdict: "not asked", seen: reason });
  }
  const ask = async ({ row, keys }: (typeof asked)[number]) => {
    results.set(row, await askRow(world, settings, row, keys, () => keysFor(row)));
  };
  await Promise.all(asked.filter(({ row }) => !row.isAlone).map(ask));
  for (const each of asked.filter(({ row }) => row.isAlone)) await ask(each);
  return rows.map((row) => {
    const { id, sentence, source } = row;
    return { id, sentence, source, ...(results.get(row) ?? { verdict: "not asked", seen: "" }) };
  });
}

function whyNotAsked({ profiles, needs = [] }: Row, settings: Settings): string | undefined {
  const absent = needs.filter((name) => settings[name] === undefined);
  if (absent.length > 0) return `no "${absent.join('", "')}" in the settings`;
  if (profiles === undefined || profiles.some((profile) => settings.profiles.includes(profile)))
    return undefined;
  return `no "${profiles.join('" or "')}" in the profiles`;
}

async function askRow(
  world: World,
  settings: Settings,
  row: Row,
  firstKeys: readonly Key[],
  moreKeys: () => Promise<readonly Key[]>,
): Promise<Outcome> {
  const ok = (row.needs?.includes("longer") && settings.longer?.ok) || settings.ok;
  for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
    try {
      return await row.ask(new Session(world, settings, attempt === 1 ? firstKeys : await moreKeys(), ok));
    } catch (thrown) {
      if (thrown instanceof NotAsked) return { verdict: "not asked", seen: thrown.message };
      if (!(thrown instanceof TooSlow)) throw thrown;
    }
  }
  return { verdict: "not asked", seen: `the limit was back before the row had ended, ${MAX_ATTEMPTS} times` };
}

/** Fewer than asked for if the list ends. */
export function keysOf(world: World, keys: Settings["keys"]): (count: number) => Promise<readonly Key[]> {
  const run = Math.random().toString(36).slice(2, 10);
  let made = 0;
  const left = Array.isArray(keys) ? [...keys] : [];
  return async (count) => {
    if (Array.isArray(keys)) return left.splice(0, count).map(keyOf);
    if (keys === undefined) return Array.from({ length: count }, () => keyOf(`conformance-${run}-${++made}`));
    const lines = (await world.run(keys, { COUNT: String(count) })).trim().split("\n");
    if (lines.length < count || lines.includes(""))
      throw new NotAsked(`The command of keys must print ${count} keys, each in a line.`);
    return lines.slice(0, count).map(keyOf);
  };
}

function keyOf(line: string): Key {
  const [key = "", id = key] = line.trim().split(/\s+/);
  return { key, id };
}
