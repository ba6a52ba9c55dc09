/** Loads the demo data into a new local service, through its admin API. */
import { DEMO_KEYS, demoOrders } from "./demo-data.ts";
import { demoMonth, type UsedKey } from "./demo-month.ts";

export type DemoKey = UsedKey & { readonly name: string; readonly key: string };

/**
 * Returns the demo keys, or none if the service is not new. Keys are never deleted: no keys means new. `execute` runs
 * SQL, which alone writes the past.
 */
export async function seedIfEmpty(
  baseUrl: string,
  token: string,
  execute: (sql: string) => Promise<void>,
): Promise<DemoKey[]> {
  const admin = async (method: string, path: string, body?: string): Promise<unknown> => {
    const headers = {
      Authorization: `Bearer ${token}`,
      "X-Operator": "npm start",
      "Content-Type": "application/json",
    };
    const response = await fetch(`${baseUrl}/admin/${path}`, { method, headers, body: body ?? null });
    if (response.ok) return response.json();
    throw new Error(
      `The demo data could not be loaded: ${method} /admin/${path} was answered ${await response.text()}`,
    );
  };
  const { keys } = (await admin("GET", "keys?limit=1")) as { keys: unknown[] }; // the service's own answer
  if (keys.length > 0) return [];
  await admin("PUT", "orders?file=demo+data", JSON.stringify(demoOrders(Date.now())));
  const made: DemoKey[] = [];
  for (const { use, ...key } of DEMO_KEYS) {
    const answer = (await admin("POST", "keys", JSON.stringify(key))) as Omit<DemoKey, "use">; // the service's own answer
    made.push({ ...answer, use });
  }
  await execute(demoMonth(made, Date.now()).join(";\n"));
  return made;
}
