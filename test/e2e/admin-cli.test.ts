/** The command line against the running service: what it prints fits what the service answers. */
import { createHash } from "node:crypto";
import { beforeAll, describe, it } from "vitest";
import { runAdmin } from "../support/cli.ts";
import { ADMIN_TOKEN, LIST, openService, type Service } from "../support/service.ts";

let service: Service;

beforeAll(async () => {
  service = await openService();
});

function cli(args: readonly string[], input = "") {
  return runAdmin(args, { ADMIN_URL: service.url.href, ADMIN_TOKEN }, { input });
}

/** What a command prints that must succeed. */
async function printed(...args: string[]): Promise<string> {
  const { code, out, err } = await cli(args);
  if (code !== 0) throw new Error(`exit code ${code}: ${err}`);
  return out;
}

async function create(name: string, ...options: string[]): Promise<{ id: string; key: string; out: string }> {
  const out = await printed("keys", "create", "--name", name, "--plan", "pro", ...options);
  return { id: /key_\w{12}/.exec(out)?.[0] ?? "", key: /sok_\w{30,}/.exec(out)?.[0] ?? "", out };
}

async function statusOf(key: string): Promise<number> {
  return (await service.call(key, LIST)).status;
}

describe("keys", () => {
  it("are issued, shown, listed, changed and found", async ({ expect }) => {
    const { id, key, out } = await create("acme", "--per-minute", "50", "--expires-at", "2099-01-01");
    expect(out).toMatch(/^acme is created: /);
    expect((await service.call(key, LIST)).headers.get("X-RateLimit-Limit")).toBe("50");
    const shown = await printed("keys", "show", id);
    expect(shown).toMatch(/^expires at +2099-01-01 00:00$/m);
    expect(shown).toMatch(/^live minute used +1$/m);
    expect(await printed("keys", "list", "--search", "acme")).toMatch(new RegExp(`^acme .* ${id}$`, "m"));
    expect(await printed("keys", "update", id, "--owner", "Ada")).toBe(
      "acme has changed, from now on: owner name Ada.\n",
    );
    expect((await cli(["keys", "find"], `${key}\n`)).out).toMatch(new RegExp(`^id +${id}$`, "m"));
    for (const args of [
      ["keys", "list"],
      ["keys", "show", id],
      ["audit", "list"],
    ]) {
      expect(await printed(...args)).not.toContain(key.slice(4));
    }
  });

  it("are disabled, rotated, and revoked; a secret is retired", async ({ expect }) => {
    const { id, key } = await create("rotated");
    await printed("keys", "disable", id);
    expect(await statusOf(key)).toBe(401);
    await printed("keys", "enable", id);
    const rotated = /sok_\w{30,}/.exec(await printed("keys", "rotate", id, "--grace", "1h"))?.[0] ?? "";
    expect([await statusOf(key), await statusOf(rotated)]).toEqual([200, 200]);
    await printed("keys", "retire", id, createHash("sha256").update(key).digest("hex").slice(0, 16), "--yes");
    expect([await statusOf(key), await statusOf(rotated)]).toEqual([401, 200]);
    await printed("keys", "revoke", id, "--yes");
    expect(await statusOf(rotated)).toBe(401);
  });

  it("have a history", async ({ expect }) => {
    const { id } = await create("used");
    await printed("keys", "update", id, "--note", "seen");
    expect(await printed("keys", "history", id, "--json")).toContain('"note":"seen"');
  });

  it("are named by the beginning of their id, their name, or the end of their secret", async ({ expect }) => {
    const { id, key } = await create("named");
    for (const ref of [id.slice(0, 12), "named", key.slice(-4)]) {
      expect(await printed("keys", "show", ref)).toMatch(new RegExp(`^id +${id}$`, "m"));
    }
    await create("named");
    expect(await cli(["keys", "show", "named"])).toMatchObject({ code: 1, out: "" });
  });
});

describe("bans, plans and the audit log", () => {
  it("a ban is set, listed and lifted", async ({ expect }) => {
    const { id, key } = await create("banned");
    await printed("bans", "set", id, "--for", "1h", "--reason", "a flood");
    expect(await statusOf(key)).toBe(429);
    expect(await printed("bans", "list", "--state", "live")).toMatch(/^banned +live .* a flood$/m);
    expect(await printed("bans", "lift", id)).toBe("The ban of banned is over, from now on.\n");
    expect(await statusOf(key)).toBe(200);
    expect(await printed("bans", "lift", id)).toBe(`${id} is not banned.\n`);
  });

  it("a plan is changed, and the audit log says from what to what", async ({ expect }) => {
    const [, before] = /^business +(\d+) /m.exec(await printed("plans", "list")) ?? [];
    await printed("plans", "set", "business", "--per-minute", "999", "--yes");
    expect(await printed("plans", "list")).toMatch(/^business +999 /m);
    const audit = await printed("audit", "list", "--object", "business");
    expect(audit).toContain(`requestsPerMinute: ${before} → 999`);
    await printed("plans", "set", "business", "--per-minute", `${before}`, "--yes");
  });

  it("the service's refusal is one line and exit code 1", async ({ expect }) => {
    expect(await cli(["keys", "create", "--name", " ", "--plan", "free"])).toEqual({
      code: 1,
      out: "",
      err: "error: name: must not be empty\n",
    });
    const wrong = await runAdmin(["plans", "list"], { ADMIN_URL: service.url.href, ADMIN_TOKEN: "wrong" });
    expect(wrong).toMatchObject({
      code: 1,
      err: expect.stringContaining("ADMIN_TOKEN must be the Worker's secret"),
    });
  });
});
