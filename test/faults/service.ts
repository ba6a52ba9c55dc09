/** Isolates of the Worker under test, with one D1, and one class of limiters. */
import { join } from "node:path";
import type { SqlStatement } from "../support/mint.ts";
import { scriptModule } from "../support/worker-modules.ts";
import { bundle, startWorkerd } from "../support/workerd.ts";

export { ADMIN_TOKEN } from "../support/workerd.ts";

export const buildWorker = () => bundle(join(import.meta.dirname, "worker/index.ts"));

export type FaultService = Awaited<ReturnType<typeof startFaultService>>;

export type ServiceOptions = {
  readonly isolates: number;
  /** Where storage is kept. Without it, storage ends with the service. */
  readonly folder?: string;
};

export async function startFaultService(script: string, options: ServiceOptions) {
  const { urls, close } = await startWorkerd({ ...options, modules: [scriptModule(script)] });
  return { urls, ...controlOf(urls), close };
}

/** What a test needs of a running service beside requests of clients and operators. */
export function controlOf(urls: readonly URL[]) {
  const control = async (name: string, body: object, isolate = 0): Promise<unknown> => {
    const init = { method: "POST", body: JSON.stringify(body) };
    const response = await fetch(new URL(`/__test/${name}`, urls[isolate]), init);
    if (!response.ok) throw new Error(`${name}: ${response.status} ${await response.text()}`);
    return response.json();
  };
  // D1 answers with the rows of each statement.
  const sql = (...statements: SqlStatement[]) => control("sql", { statements }) as Promise<SqlRow[][]>;
  return { control, sql };
}

export type SqlRow = Record<string, string | number | null>;
