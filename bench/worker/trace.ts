/** The calls over the network that requests made, in their order. The bench reads them after each request. */

/** `nearest`: D1 as a session may read it from a replica. `primary`: D1 for writes and all other reads. */
export type RemoteCall = "limiter" | "nearest" | "primary";

let calls: RemoteCall[] = [];

/** All calls in this isolate since the last `takeTrace`. */
export function takeTrace(): RemoteCall[] {
  const taken = calls;
  calls = [];
  return taken;
}

export function traceObjectCall(): void {
  calls.push("limiter");
}

/** A call of the D1 binding: its JSON body, and the bookmark or constraint of its session. */
export function traceD1Call(body: unknown, session: string | null): void {
  const sql = statementsOf(body);
  if (sql.some((text) => text.includes("into usage"))) return; // a limiter reports: no request waits for it
  const isRead = sql.every((text) => /^\s*(select|with)\b/i.test(text));
  calls.push(isRead && session !== null && session !== "first-primary" ? "nearest" : "primary");
}

function statementsOf(body: unknown): string[] {
  const queries = [JSON.parse(String(body))].flat() as { sql: string }[]; // the binding's own format
  return queries.map(({ sql }) => sql);
}
