/** What `npm run test:faults` prints at its end. */
import Table from "cli-table3";
import type { LoadRun } from "./load-run.ts";
import type { ModelRun } from "./model-run.ts";
import type { SigkillRun } from "./sigkill-run.ts";

export type Results = {
  readonly seed: number;
  readonly seconds: number;
  readonly model?: ModelRun;
  readonly sigkill?: SigkillRun;
  readonly load?: LoadRun;
};

export function failuresOf({ model, sigkill, load }: Results): string[] {
  return [model?.failure, ...(sigkill?.failures ?? []), ...(load?.failures ?? [])].filter(
    (each) => each !== undefined,
  );
}

export function toJson(results: Results): string {
  return JSON.stringify(
    { ...results, failures: failuresOf(results) },
    (_name, value: unknown) => (value instanceof Map ? Object.fromEntries(value) : value),
    2,
  );
}

export function printResults(results: Results): void {
  const { model, sigkill, load } = results;
  if (model) {
    const steps = sum(model.tally.steps);
    print(
      `Model run: ${steps} steps in ${model.runs} runs, ${model.tally.requests} requests, seed ${model.seed}`,
      [
        ["step", model.tally.steps],
        ["fault", model.tally.faults],
        ["status", model.tally.statuses],
      ],
    );
  }
  if (sigkill) {
    console.log(`\nSIGKILL: ${sigkill.kills} times under load, ${sigkill.requests} requests`);
    printRows(sigkill.checks);
  }
  if (load) {
    console.log(
      `\nLoad: ${load.requests} requests in ${load.seconds} s (${Math.round(load.requests / load.seconds)}/s)`,
    );
    printRows(load.checks);
  }
  const failures = failuresOf(results);
  console.log(
    `\n${failures.length === 0 ? "No difference found" : `${failures.length} failed`} in ${results.seconds} s.`,
  );
  for (const failure of failures) console.log(`\n${failure}`);
}

function print(title: string, columns: readonly (readonly [string, ReadonlyMap<string, number>])[]): void {
  console.log(`\n${title}`);
  const table = new Table({
    head: columns.flatMap(([name]) => [name, "times"]),
    style: { head: [], border: [], compact: true },
  });
  const sorted = columns.map(([, counts]) => [...counts].sort(([a], [b]) => a.localeCompare(b)));
  const rows = Math.max(...sorted.map(({ length }) => length));
  for (let row = 0; row < rows; row++) {
    table.push(sorted.flatMap((counts) => counts[row]?.map(String) ?? ["", ""]));
  }
  console.log(table.toString());
}

function printRows(rows: readonly (readonly [string, string | number])[]): void {
  const table = new Table({ style: { head: [], border: [], compact: true } });
  for (const [name, value] of rows) table.push([name, String(value)]);
  console.log(table.toString());
}

function sum(counts: ReadonlyMap<string, number>): number {
  return [...counts.values()].reduce((total, count) => total + count, 0);
}
