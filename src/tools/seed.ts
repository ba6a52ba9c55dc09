/** Loads the demo data into a new local service, through its admin API. */
import { DEMO_KEYS, demoOrders } from "./demo-data.ts";

export type DemoKey = {
  readonly name: string;
  readonly key: string;
  readonly limits: { readonly requestsPerMinute: number; readonly requestsPerDay: number };
};

/** Returns the demo keys, or none if the service is not new. Keys are never deleted: no keys means new. */
export async function seedIfEmpty(baseUrl: string, token: string): Promise<DemoKey[]> {
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
  const shown: DemoKey[] = [];
  for (const key of DEMO_KEYS) {
    shown.push((await admin("POST", "keys", JSON.stringify(key))) as DemoKey); // the service's own answer
  }
  return shown;
}
