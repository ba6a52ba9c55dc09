/** `smoke`: whether a deployment does what it promises, with requests of a client with a key and an order of its own. */
import type { Command } from "commander";
import type { Access } from "../access.ts";
import { adminClient, exchange, putOrders } from "../admin-client.ts";
import { CliError } from "../io.ts";
import { table } from "../output.ts";
import { bodyOf, print, type Session } from "../session.ts";

const LIST = "/v1/store/orders";
/** The key's own limits, whatever its plan has. The headers show the window with less left, so the day allows more. */
const LIMITS = { requestsPerMinute: 60, requestsPerDay: 1_000 };
/** A key that was not revoked expires by itself. */
const KEY_LIFETIME_MS = 10 * 60_000;

type StepResult = {
  readonly step: string;
  readonly ok: boolean;
  readonly ms: number;
  readonly detail: string;
};

/** Undefined if the step failed, or was left out because an earlier one failed. */
type RunStep = <T>(step: string, body: () => Promise<T>, always?: "always") => Promise<T | undefined>;

export function addSmokeCommand(program: Command, session: () => Session): void {
  program
    .command("smoke")
    .description("check a deployment: health, key, limit, list, cancel; with a key and an order of its own")
    .action(async () => {
      const results = await runSmokeTest(session().access);
      print(session(), session().json ? JSON.stringify(results) : describeResults(results));
      if (results.some(({ ok }) => !ok)) throw new CliError("The smoke test failed.");
    });
}

function describeResults(results: readonly StepResult[]): string {
  const rows = results.map(({ ok, step, ms, detail }) => [ok ? "ok" : "FAILED", step, ms, detail]);
  return table(["", "step", "ms", "result"], rows);
}

/** Ends with the first step that fails. Then it deletes its order and revokes its key. */
async function runSmokeTest(access: Access): Promise<StepResult[]> {
  const results: StepResult[] = [];
  const run: RunStep = async (step, body, always) => {
    if (always === undefined && results.some(({ ok }) => !ok)) return undefined;
    const startMs = performance.now();
    const [ok, value] = await body().then(
      (result) => [true, result] as const,
      (thrown: unknown) => [false, thrown instanceof Error ? thrown.message : String(thrown)] as const,
    );
    const ms = Math.round(performance.now() - startMs);
    results.push({ step, ok, ms, detail: typeof value === "string" ? value : "" });
    return ok ? value : undefined;
  };
  await run("health", () => call(access, "/health", 200));
  await run("list without a key", () => call(access, LIST, 401));
  let key = "";
  const keyId = await run("issue a key", async () => {
    const issued = await issueKey(access);
    key = issued.key;
    return issued.id;
  });
  if (keyId === undefined) return results;
  await checkAsClient(run, access, key);
  const revoked = adminClient(access).keys[":id"];
  await run(
    "revoke the key",
    async () => (await bodyOf(revoked.$delete({ param: { id: keyId } }))).effective,
    "always",
  );
  await run("list with the revoked key", () => call(access, LIST, 401, { key }));
  return results;
}

async function checkAsClient(run: RunStep, access: Access, key: string): Promise<void> {
  const id = `-${Math.floor(Math.random() * Number.MAX_SAFE_INTEGER)}`; // no store uses negative ids
  const order = `${LIST}/${id}`;
  await run("list", () => checkLimit(access, key));
  const loaded = await run("load an order", async () => {
    await putOrders(access, { file: "smoke test" }, `[{"id":${id},"status":"pending"}]`);
    return `order ${id}`;
  });
  await run("cancel it", () => call(access, order, 204, { key, method: "DELETE" }));
  const again = await run("cancel it again", () => call(access, order, 404, { key, method: "DELETE" }));
  if (loaded === undefined || again !== undefined) return;
  await run("delete the order", () => deleteOrder(access, id), "always");
}

async function issueKey(access: Access): Promise<{ readonly id: string; readonly key: string }> {
  const expiresAt = new Date(Date.now() + KEY_LIFETIME_MS).toISOString();
  const json = { name: "smoke test", plan: "free" as const, ...LIMITS, expiresAt };
  return bodyOf(adminClient(access).keys.$post({ json }));
}

async function checkLimit(access: Access, key: string): Promise<string> {
  const { limit, remaining } = rateLimitOf(await request(access, LIST, 200, { key }));
  const { requestsPerMinute } = LIMITS;
  const isRight = limit === requestsPerMinute && remaining === requestsPerMinute - 1;
  if (!isRight) throw new CliError(`X-RateLimit-Remaining is ${remaining} of ${limit}`);
  return `${remaining} of ${limit} remaining`;
}

/** It may not exist: a cancel may have been made although its answer was an error. */
async function deleteOrder(access: Access, orderId: string): Promise<string> {
  try {
    await adminClient(access).orders[":orderId"].$delete({ param: { orderId } });
    return `order ${orderId}`;
  } catch (thrown) {
    if (thrown instanceof CliError && thrown.status === 404) return "it was cancelled";
    throw new CliError(`order ${orderId} may be left: ${thrown instanceof Error ? thrown.message : thrown}`);
  }
}

type Sent = { readonly key?: string; readonly method?: string };

async function call(access: Access, path: string, status: number, sent: Sent = {}): Promise<string> {
  const response = await request(access, path, status, sent);
  if (path !== "/health") rateLimitOf(response);
  return String(status);
}

async function request({ baseUrl }: Access, path: string, status: number, { key, method = "GET" }: Sent) {
  const headers = key === undefined ? {} : { Authorization: `Bearer ${key}` };
  const { response } = await exchange(baseUrl, new Request(`${baseUrl}${path}`, { method, headers }));
  if (response.status === status) return response;
  throw new CliError(`${response.status}, not ${status}`);
}

function rateLimitOf({ headers }: Response): { readonly limit: number; readonly remaining: number } {
  const [limit, remaining, reset] = ["Limit", "Remaining", "Reset"].map((name) =>
    headers.get(`X-RateLimit-${name}`),
  );
  if (!limit || !remaining || !reset) throw new CliError("the X-RateLimit headers are missing");
  return { limit: Number(limit), remaining: Number(remaining) };
}
