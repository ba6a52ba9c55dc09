/** `smoke` tests whether a deployment keeps its promises to a client with a new key and a new order. */
import type { Command } from "commander";
import type { Access } from "../access.ts";
import { exchange, send } from "../api.ts";
import { CliError } from "../io.ts";
import { type TextColumn, table } from "../output.ts";
import { addCommand, type Connection } from "../session.ts";

const LIST = "/v1/store/orders";
/** The day allows more requests than the minute, so the headers show the minute. */
const LIMITS = { requestsPerMinute: 60, requestsPerDay: 1_000 };
/** If the test cannot revoke the key, the key expires by itself. */
const KEY_LIFETIME = "10m";

type Result = { readonly step: string; readonly ok: boolean; readonly ms: number; readonly detail: string };

export function addSmokeCommand(program: Command, session: Connection): void {
  const does = "Check a deployment with a key and an order of its own: health, key, limit, list, cancel.";
  addCommand(program, "smoke", does, "smoke --url https://api.example.com").action(async () => {
    const results = await runSmokeTest(session.access);
    const { io, json } = session;
    const columns: TextColumn[] = [["", ({ ok }: Result) => (ok ? "ok" : "FAILED")], "step", "ms", "detail"];
    io.stdout.write(`${json ? JSON.stringify(results) : table(results, columns, io)}\n`);
    if (results.some(({ ok }) => !ok)) throw new CliError("The smoke test failed.");
  });
}

/** Ends after the first step that fails. Then deletes the order and revokes the key. */
async function runSmokeTest(access: Access): Promise<Result[]> {
  const results: Result[] = [];
  /** Runs a step, and returns whether the step succeeded. After a failure, a step runs only with `always`. */
  const run = async (step: string, body: () => Promise<string>, always = false): Promise<boolean> => {
    if (!always && results.some(({ ok }) => !ok)) return false;
    const startMs = performance.now();
    const [ok, detail] = await body().then(
      (text) => [true, text] as const,
      (thrown: unknown) => [false, messageOf(thrown)] as const,
    );
    results.push({ step, ok, ms: Math.round(performance.now() - startMs), detail });
    return ok;
  };
  await run("health", () => probe(access, "GET /health", 200));
  await run("list without a key", () => probe(access, `GET ${LIST}`, 401));
  let created = { id: "", key: "" };
  const isCreated = await run("create a key", async () => {
    const json = {
      name: "smoke test",
      plan: "free",
      ...LIMITS,
      expiresAt: KEY_LIFETIME,
    };
    created = (await send<typeof created>(access, "POST /keys", { json })).body;
    return created.id;
  });
  if (!isCreated) return results;
  const { id, key } = created;
  const order = -Math.floor(Math.random() * Number.MAX_SAFE_INTEGER); // no store uses negative ids
  await run("list", () => probe(access, `GET ${LIST}`, 200, key));
  const isLoaded = await run("load an order", async () => {
    await send(access, "PUT /orders", {
      query: { file: "smoke test" },
      json: [{ id: order, status: "pending" }],
    });
    return `order ${order}`;
  });
  await run("cancel it", () => probe(access, `DELETE ${LIST}/${order}`, 204, key));
  const isGone = await run("cancel it again", () => probe(access, `DELETE ${LIST}/${order}`, 404, key));
  if (isLoaded && !isGone) await run("delete the order", () => deleteOrder(access, order), true);
  const revoke = () => send<{ effective: string }>(access, `DELETE /keys/${id}`);
  await run("revoke the key", async () => (await revoke()).body.effective, true);
  await run("list with the revoked key", () => probe(access, `GET ${LIST}`, 401, key));
  return results;
}

/** The order may be gone: a cancel can succeed although its answer was an error. */
async function deleteOrder(access: Access, order: number): Promise<string> {
  try {
    await send(access, `DELETE /orders/${order}`);
    return `order ${order}`;
  } catch (thrown) {
    if (thrown instanceof CliError && thrown.status === 404) return "it was cancelled";
    throw new CliError(`order ${order} may be left: ${messageOf(thrown)}`);
  }
}

/** Sends a request of the client. The first admitted request leaves one less than the limit. */
async function probe({ baseUrl }: Access, line: string, expected: number, key?: string): Promise<string> {
  const [method = "", path = ""] = line.split(" ");
  const init = key === undefined ? { method } : { method, headers: { Authorization: `Bearer ${key}` } };
  const { status, headers } = (await exchange(baseUrl, new Request(`${baseUrl}${path}`, init))).response;
  if (status !== expected) throw new CliError(`${status}, not ${expected}`);
  if (path === "/health") return String(status);
  const [limit, remaining, reset] = ["Limit", "Remaining", "Reset"].map((name) =>
    headers.get(`X-RateLimit-${name}`),
  );
  if (!limit || !remaining || !reset) throw new CliError("the X-RateLimit headers are missing");
  if (status !== 200) return String(status);
  const isRight = Number(limit) === LIMITS.requestsPerMinute && Number(remaining) === Number(limit) - 1;
  if (!isRight) throw new CliError(`X-RateLimit-Remaining is ${remaining} of ${limit}`);
  return `${remaining} of ${limit} remaining`;
}

function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}
