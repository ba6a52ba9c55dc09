/** What an operator asks after a busy day: one call, and one command, answers each question. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, it } from "vitest";
import { CUSTOMERS, makeBusyDay, NEAR_CUSTOMER } from "../support/busy-day.ts";
import { runAdmin, temporaryFolder } from "../support/cli.ts";
import { ADMIN_TOKEN, LIST, openService, type Service } from "../support/service.ts";

const DAY_MS = 86_400_000;

let service: Service;
let day: Awaited<ReturnType<typeof makeBusyDay>>;

beforeAll(async () => {
  service = await openService();
  day = await makeBusyDay(service);
}, 120_000);

/** What a command prints. */
async function asked(...args: string[]): Promise<string> {
  const { code, out, err } = await runAdmin(args, { ADMIN_URL: service.url.href, ADMIN_TOKEN });
  if (code !== 0) throw new Error(`${args.join(" ")}: ${code} ${err}`);
  return out;
}

const get = async (path: string) => (await service.admin("GET", path)).body;

describe("after a busy day", () => {
  it("whose key is this", async ({ expect }) => {
    const { id, key, customer } = day.near;
    expect((await get(`/keys?ref=${key.slice(-4)}`)).keys).toMatchObject([
      { id, customer: { name: customer } },
    ]);
    const { keys } = await get(`/keys?search=${encodeURIComponent("Paws & Co")}`);
    expect(keys).toHaveLength(4);
    const secret = await runAdmin(
      ["find"],
      { ADMIN_URL: service.url.href, ADMIN_TOKEN },
      { input: `${key}\n` },
    );
    expect(secret.out).toContain(customer);
    expect(await asked("keys", "show", key.slice(-4))).toContain(customer);
    expect(await asked("keys", "list", "--search", customer, "--csv")).toContain("paws-co pro");
  });

  it("why was it refused, to the minute", async ({ expect }) => {
    const { id } = day.banned;
    const { rows } = await get(`/keys/${id}/usage?by=hour`);
    const hours = rows as { refusedMinutes: { at: string; by: object }[] }[];
    const [minute] = hours.flatMap(({ refusedMinutes }) => refusedMinutes);
    expect(minute?.by).toMatchObject({ minute: expect.any(Number) });
    const table = await asked("usage", id, "--by", "hour");
    expect(table).toMatch(new RegExp(`${minute?.at.slice(11, 16)} minute: \\d+`));
  });

  it("who lifted that ban", async ({ expect }) => {
    const { id } = day.lifted;
    expect((await get(`/bans?key=${id}`)).bans).toMatchObject([{ liftedBy: "omar" }]);
    expect(await asked("bans", "list", "--key", id)).toContain("omar");
  });

  it("which customers should buy the next plan", async ({ expect }) => {
    const { customers } = await get("/customers?from=29d&sort=near");
    const listed = customers as { name: string; usage: { daysNear: number } }[];
    expect(listed).toHaveLength(CUSTOMERS.length);
    const usage = { nearest: { plan: "pro" }, daysNear: 25, medianPercent: 90, peakPercent: 90 };
    expect(listed.filter((each) => each.usage.daysNear > 0)).toMatchObject([{ name: NEAR_CUSTOMER, usage }]);
    const table = await asked("customers", "list", "--since", "29d", "--sort", "near");
    expect(table).toMatch(/^name.*\n[─ ]*\n?Paws & Co +4 +25 /m);
  });

  it("which keys expire within a month", async ({ expect }) => {
    const { keys } = await get("/keys?expiringBefore=30d&sort=expiry");
    expect(keys).toMatchObject([
      { name: "paws-co pro" },
      { name: "hammer-gmbh pro" },
      { name: "quiet-pets pro" },
    ]);
    expect(await asked("keys", "list", "--expiring-within", "30d", "--csv")).toContain("quiet-pets pro");
  });

  it("what changed yesterday", async ({ expect }) => {
    const from = new Date(Date.now() - DAY_MS - 60_000).toISOString();
    const to = new Date(Date.now() - DAY_MS + 60_000 * 10).toISOString();
    expect((await get(`/audit?from=${from}&to=${to}`)).audit).toHaveLength(5);
    expect(await asked("audit", "list", "--since", from, "--to", to)).toMatch(/note\s+none\s+→ called/);
  });

  it("what happened to request id X: the log line of the request", async ({ expect }) => {
    const response = await service.call(day.near.key, LIST);
    expect(await service.log.lineOf(response)).toMatchObject({ keyId: day.near.id, status: 200 });
  });

  it("double a limit until tomorrow", async ({ expect }) => {
    const limit = async () => (await service.call(day.near.key, LIST)).headers.get("X-RateLimit-Limit");
    expect(await limit()).toBe("300");
    await asked("keys", "limit", day.near.id, "--per-minute", "600", "--days", "2");
    expect(await limit()).toBe("600");
    const { temporaryLimits } = await get(`/keys/${day.near.id}`);
    expect(temporaryLimits).toMatchObject({ requestsPerMinute: 600, requestsPerDay: null });
    await asked("keys", "limit", day.near.id, "--end");
    expect(await limit()).toBe("300");
  });

  it("which lines of a file are wrong", async ({ expect }) => {
    const file = join(temporaryFolder(), "orders.ndjson");
    writeFileSync(file, '{"id":1,"status":"pending"}\n{"id":"two"}\n{"id":3,"status":"lost"}\n');
    const { code, err } = await runAdmin(["orders", "load", file], {
      ADMIN_URL: service.url.href,
      ADMIN_TOKEN,
    });
    expect(code).toBe(1);
    expect(err).toMatch(/^line 2: id: .*\nline 3: status: /m);
  });

  it("all keys of the day, as CSV too", async ({ expect }) => {
    const { rows } = await get("/usage?from=30d&by=customer");
    expect(rows).toHaveLength(CUSTOMERS.length);
    // Not `total`: test files share the service, and one may have deleted keys whose usage arrives late.
    expect((rows as { keyCount: number }[]).reduce((sum, { keyCount }) => sum + keyCount, 0)).toBe(40);
    const csv = await (
      await service.call(ADMIN_TOKEN, "/admin/usage?from=30d&by=customer&format=csv")
    ).text();
    expect(csv.trim().split("\r\n")).toHaveLength(CUSTOMERS.length + 1);
    expect(await asked("usage", "--since", "30d", "--by", "customer")).toContain(NEAR_CUSTOMER);
  });
});
