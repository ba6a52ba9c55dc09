/** What `npm run test:faults` prints at its end. */
import type { ModelRun } from "./model-run.ts";
import type { SigkillRun } from "./sigkill-run.ts";

export type Results = {
  readonly seconds: number;
  readonly model: ModelRun | undefined;
  readonly sigkill: SigkillRun | undefined;
};

export function failuresOf({ model, sigkill }: Results): string[] {
  return [model?.failure, ...(sigkill?.failures ?? [])].filter((each) => each !== undefined);
}

export function printResults(results: Results): void {
  const { model, sigkill } = results;
  if (model) {
    const { steps, faults, statuses, requests, sharing } = model.tally;
    print(
      `Model run: ${model.runs} runs, ${requests} requests, ${sharing} by another's call, seed ${model.seed}`,
      [...sorted("step", steps), ...sorted("fault", faults), ...sorted("status", statuses)],
    );
  }
  if (sigkill)
    print(`SIGKILL: ${sigkill.kills} times under load, ${sigkill.requests} requests`, sigkill.checks);
  const failures = failuresOf(results);
  console.log(
    failures.length === 0 ? "No difference found" : `${failures.length} failed`,
    `in ${results.seconds} s.`,
  );
  for (const failure of failures) console.log(`\n${failure}`);
}

function sorted(kind: string, counts: ReadonlyMap<string, number>): [string, number][] {
  const all = [...counts].sort(([a], [b]) => a.localeCompare(b));
  return all.map(([name, count]) => [`${kind} ${name}`, count]);
}

function print(title: string, rows: readonly (readonly [string, string | number])[]): void {
  console.log(`\n${title}`);
  for (const [name, value] of rows) console.log(`  ${name.padEnd(55)} ${value}`);
  console.log();
}
