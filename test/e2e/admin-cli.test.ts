/** The command line, in-process, against the running service; and two smoke tests as a process. */
import { beforeAll, describe, it } from "vitest";
import { type Finished, runAdmin, runProcess, runProgram } from "../support/cli.ts";
import { ADMIN_TOKEN, LIST, openService, type Service } from "../support/service.ts";

let service: Service;

beforeAll(async () => {
  service = await openService();
});

function cli(...args: string[]): Promise<Finished> {
  return runAdmin(args, { ADMIN_URL: service.url.href, ADMIN_TOKEN });
}

async function printed(...args: string[]): Promise<string> {
  const { code, out, err } = await cli(...args);
  if (code !== 0 || err !== "") throw new Error(`exit code ${code}: ${err}`);
  return out;
}

/** `label  value` lines. */
function factsOf(text: string): Record<string, string> {
  return Object.fromEntries(
    [...text.matchAll(/^(\S+(?: \S+)*) {2,}(.+)$/gm)].map(([, label, value]) => [label, value]),
  );
}

async function create(name: string, ...options: string[]): Promise<{ id: string; key: string; out: string }> {
  const out = await printed("keys", "create", "--name", name, "--plan", "pro", ...options);
  return { id: factsOf(out).id ?? "", key: /sok_[0-9A-Za-z]{38}/.exec(out)?.[0] ?? "", out };
}

describe.concurrent("keys", () => {
  it("create prints the key once, and the key is valid", async ({ expect }) => {
    const { id, key, out } = await create(
      "acme",
      "--per-minute",
      "50",
      "--per-day",
      "500",
      "--expires-at",
      "2099-01-01",
    );
    expect(factsOf(out)).toMatchObject({
      name: "acme",
      plan: "pro",
      status: "active",
      "a minute": "50 (its own)",
      "a day": "500 (its own)",
      expires: "2099-01-01T00:00:00Z",
    });
    expect((await service.call(key, LIST)).headers.get("X-RateLimit-Limit")).toBe("50");
    for (const args of [["keys", "list"], ["keys", "show", id], ["audit"]]) {
      expect(await printed(...args)).not.toContain(key.slice(4));
    }
  });

  it("list finds a key although the service needs several pages for it", async ({ expect }) => {
    for (let i = 0; i < 8; i++) await create("hay");
    const { id } = await create("needle");
    for (const options of [["--limit", "1"], [], ["--limit", "1", "--json"]]) {
      expect(await printed("keys", "list", "--search", "needle", ...options), options.join(" ")).toContain(
        id,
      );
    }
    expect(await printed("keys", "list", "--search", "no such needle", "--limit", "1")).toBe(
      "Nothing to show.\n",
    );
  });

  it("list is a table, filtered, with the option that shows its next page", async ({ expect }) => {
    for (const name of ["listed one", "listed two"]) await create(name);
    const whole = (await printed("keys", "list", "--search", "listed")).split("\n");
    expect(whole[0]).toMatch(/^id +name +owner +plan +status +a minute +a day +expires +last used +secrets$/);
    expect(whole[1]).toMatch(/^key_\w+ +listed one +– +pro +active +300 +10000 +– +– +sok_..…....$/);
    expect(whole).toHaveLength(4);
    const page = await printed("keys", "list", "--search", "listed", "--limit", "1");
    const after = /^More: --after ([\w-]+)$/m.exec(page)?.[1] ?? "";
    expect(await printed("keys", "list", "--search", "listed", "--after", after)).toContain("listed two");
    const { code, out, err } = await cli("keys", "list", "--search", "listed", "--limit", "1", "--csv");
    expect([code, err]).toEqual([0, `More: --after ${after}\n`]);
    expect(out).toMatch(
      /^id,name,owner,plan,status,a minute,a day,expires,last used,secrets\nkey_\w+,listed one,,pro,active,300,10000,,,sok_..…....\n$/,
    );
    await create("joined می\u200cخواهم 👩\u200d💻");
    const joined = await printed("keys", "list", "--search", "joined", "--csv");
    expect(joined).toContain(",joined می\u200cخواهم 👩\u200d💻,");
    expect(await printed("keys", "list", "--status", "revoked", "--plan", "enterprise")).toBe(
      "Nothing to show.\n",
    );
  });

  it("show adds the live usage of both windows and the ban", async ({ expect }) => {
    const { id, key } = await create("shown");
    await service.call(key, LIST);
    await printed("bans", "set", id, "--for", "1h", "--reason", "abuse");
    const facts = factsOf(await printed("keys", "show", id));
    expect(facts.day).toMatch(/^1 of 10000, until \d{4}-\d\d-\d\dT00:00:00Z$/);
    expect(facts.minute).toMatch(/ of 300, until /);
    expect(facts.ban).toMatch(/^until \S+, by operator: abuse$/);
  });

  it("update, disable, enable, rotate and revoke are effective on the next request", async ({ expect }) => {
    const { id, key } = await create("changing");
    const limit = async (secret = key) => {
      const response = await service.call(secret, LIST);
      return response.status === 200 ? response.headers.get("X-RateLimit-Limit") : response.status;
    };
    expect(await limit()).toBe("300");
    const updated = await printed(
      "keys",
      "update",
      id,
      "--name",
      "changed",
      "--plan",
      "free",
      "--per-minute",
      "5000",
    );
    expect(updated).toContain("Effective immediately.");
    expect(factsOf(updated)).toMatchObject({ name: "changed", plan: "free", "a minute": "5000 (its own)" });
    expect(await limit()).toBe("1000");
    await printed("keys", "update", id, "--per-minute", "none", "--expires-at", "2099-01-01T10:00:00+01:00");
    expect(await limit()).toBe("60");
    expect(factsOf(await printed("keys", "show", id)).expires).toBe("2099-01-01T09:00:00Z");
    expect(factsOf(await printed("keys", "update", id, "--expires-at", "never")).expires).toBe("–");
    await printed("keys", "disable", id);
    expect(await limit()).toBe(401);
    await printed("keys", "enable", id);
    expect(await limit()).toBe("60");
    const rotated = await printed("keys", "rotate", id, "--grace", "24h");
    const next = /^ {2}(sok_\w{38})$/m.exec(rotated)?.[1] ?? "";
    expect(rotated).toMatch(/^secret +[0-9a-f]{16} sok_..….... until \d{4}/m);
    expect(rotated).toContain("Effective immediately.");
    expect([await limit(), await limit(next)]).toEqual(["60", "60"]);
    const last = await printed("keys", "rotate", id, "--grace", "0", "--yes");
    expect(last.match(/^secret +[0-9a-f]{16} sok_..….... expired at \d{4}/gm)).toHaveLength(2);
    const hint = /^secret +[0-9a-f]{16} (sok_\S+)$/m.exec(last)?.[1];
    expect(await printed("keys", "list", "--search", "changed")).toMatch(new RegExp(` ${hint}\n$`));
    expect(await printed("keys", "list", "--search", "changed")).not.toContain(
      `${key.slice(0, 6)}…${key.slice(-4)}`,
    );
    expect(await printed("keys", "revoke", id, "--yes")).toMatch(/^status +revoked$/m);
    expect([await limit(), await limit(next)]).toEqual([401, 401]);
  });

  it("usage draws a bar for each day, in proportion to the day with the most requests", async ({
    expect,
  }) => {
    const { id } = await create("used");
    const day = (ago: number) => new Date(Date.now() - ago * 86_400_000).toISOString().slice(0, 10);
    const insert = service.db.prepare(
      "insert into daily_usage values (?1, ?2, ?3, ?4, ?5, '[]', ?3 / 100.0)",
    );
    await service.db.batch([
      insert.bind(day(1), id, 1000, 3, 2),
      insert.bind(day(2), id, 500, 0, 0),
      insert.bind(day(3), id, 1, 0, 0),
    ]);
    const lines = (await printed("keys", "usage", id, "--days", "5")).trimEnd().split("\n");
    expect(lines).toEqual([
      `${day(4)} 0`,
      `${day(3)} ▌ 1`,
      `${day(2)} ${"█".repeat(20)} 500`,
      `${day(1)} ${"█".repeat(40)} 1000 (3 refused, 2 while banned)`,
      `${day(0)} 0`,
    ]);
    const table = await printed("usage", "--day", day(1));
    expect(table.split("\n").slice(0, 3)).toEqual([
      expect.stringMatching(new RegExp(`^${day(1)}: 1 key, 1000 admitted \\(3 refused, 2 while banned\\)$`)),
      expect.stringMatching(/^key +name +owner +plan +a day +percent +admitted +refused +while banned$/),
      expect.stringMatching(new RegExp(`^${id} +used +– +pro +10000 +10 +1000 +3 +2 +█{40}$`)),
    ]);
  });

  it("usage draws the last 24 hours, sorts, and prints hours as a chart and as CSV", async ({ expect }) => {
    const { id, key } = await create("hourly");
    for (let i = 0; i < 3; i++) await service.call(key, LIST);
    const charts = (await printed("keys", "usage", id)).trimEnd().split("\n");
    expect(charts).toHaveLength(1 + 24 + 2 + 30);
    expect([charts[0], charts[26]]).toEqual(["By hour, UTC", "By day, UTC"]);
    const hour = /^\d{4}-\d\d-\d\d \d\d:00 █{40} 3$/;
    // A new hour may have begun since.
    expect(charts.slice(23, 25).some((line) => hour.test(line))).toBe(true);
    expect((await printed("keys", "usage", id, "--hours", "5")).trimEnd().split("\n")).toHaveLength(5);
    expect(await printed("keys", "usage", id, "--hours", "2", "--csv")).toMatch(
      /^hour,admitted,refused,while banned,live\n\d{4}-\d\d-\d\dT\d\d:00:00Z,\d,0,0,yes\n/,
    );
    expect(await printed("usage", "--sort", "percent")).toContain(id);
    expect(await printed("usage", "--by", "hour", "--csv")).toMatch(
      /^plan,hour,admitted,refused,while banned\nall,/,
    );
    expect(await printed("usage", "--by", "hour")).toMatch(/^\d{4}-\d\d-\d\d: \d+ keys?, \d+.*\nall\n\d{4}/);
  });
});

describe.concurrent("bans, plans, orders and the audit log", () => {
  it("set, list and lift bans", async ({ expect }) => {
    const { id, key } = await create("banned");
    expect(await printed("bans", "set", id, "--for", "90s", "--reason", "a reason")).toContain(
      "Effective immediately.",
    );
    expect((await service.call(key, LIST)).status).toBe(429);
    const list = await printed("bans", "list", "--key-id", id, "--state", "live");
    expect(list).toMatch(new RegExp(`^${id} +banned +live +operator +0 +\\S+Z +\\S+Z +– +a reason +–$`, "m"));
    const lifted = await printed("bans", "lift", id, "--forgive");
    expect(lifted).toContain("Lifted, effective immediately.\nForgiven: its next ban is a first ban again;");
    expect((await service.call(key, LIST)).status).toBe(200);
    expect(await printed("bans", "list", "--key-id", id)).toMatch(
      /past +operator .+Z +\S+Z +a reason +[^–\s]\S*$/m,
    );
    expect(await printed("bans", "lift", id)).toBe("There was no live ban to lift.\n");
    expect(await printed("bans", "lift", id, "--forgive")).toBe(
      "There was no live ban to lift.\nForgiven: its next ban is a first ban again; effective immediately.\n",
    );
  });

  it("list and set plans", async ({ expect }) => {
    const set = await printed(
      "plans",
      "set",
      "enterprise",
      "--per-minute",
      "9000",
      "--per-day",
      "90000",
      "--yes",
    );
    expect(factsOf(set)).toEqual({
      plan: "enterprise",
      "a minute": "9000",
      "a day": "90000",
      effective: "immediately",
    });
    await printed("plans", "set", "enterprise", "--per-minute", "none", "--per-day", "none", "--yes");
    const lines = (await printed("plans", "list")).split("\n");
    expect(lines[1]).toMatch(/^free +60 +1000 +\d+$/);
    expect(lines[4]).toMatch(/^enterprise +– +– +0$/);
  });

  it("show and ship orders, with every digit", async ({ expect }) => {
    const id = "9223372036854775807";
    await service.admin("POST", "/orders", `{"id":${id},"petId":${id}}`);
    expect(factsOf(await printed("orders", "show", id))).toMatchObject({
      id,
      petId: id,
      quantity: "–",
      status: "pending",
    });
    expect(factsOf(await printed("orders", "ship", id))).toMatchObject({ id, status: "shipped" });
    expect((await cli("orders", "show", "1")).err).toBe("error: No order has this id.\n");
    expect(await printed("orders", "cancelled")).toBe("Nothing to show.\n");
  });

  it("list each change in the audit log with the name of the local user, page by page", async ({
    expect,
  }) => {
    const { id } = await create("audited");
    await printed("keys", "update", id, "--name", "renamed");
    const text = await printed("audit", "--object", id, "--limit", "1");
    expect(text).toMatch(new RegExp(`^\\S+Z +\\S+ +keys.update +${id} +name: audited +name: renamed$`, "m"));
    const after = /More: --after (\d+)/.exec(text)?.[1] ?? "";
    expect(await printed("audit", "--object", id, "--after", after)).toContain("keys.create");
  });
});

describe("--json", () => {
  it("prints the bodies of the admin API unchanged", async ({ expect }) => {
    const { id } = await create("scripted");
    await printed("bans", "set", id, "--for", "1h", "--reason", "x");
    await service.admin("POST", "/orders", '{"id":9007199254740993}');
    const pairs: [string[], string][] = [
      [["keys", "list", "--search", "scripted"], "/keys?search=scripted"],
      [["keys", "usage", id, "--days", "3"], `/keys/${id}/usage?days=3`],
      [["usage"], "/usage"],
      [["bans", "list", "--key-id", id], `/bans?key=${id}`],
      [["plans", "list"], "/plans"],
      [["orders", "show", "9007199254740993"], "/orders/9007199254740993"],
      [["orders", "cancelled"], "/orders/cancelled"],
      [["audit", "--object", id], `/audit?object=${id}&limit=50`],
    ];
    await Promise.all(
      pairs.map(async ([args, path]) => {
        expect(await printed(...args, "--json"), path).toBe(`${(await service.admin("GET", path)).text}\n`);
      }),
    );
    const created = JSON.parse(await printed("--json", "keys", "create", "--name", "j", "--plan", "free"));
    expect(created).toMatchObject({ name: "j", key: expect.stringMatching(/^sok_\w{38}$/) });
    expect(JSON.parse(await printed("keys", "revoke", created.id, "--json", "--yes"))).toMatchObject({
      status: "revoked",
    });
  });
});

describe("--help", () => {
  it("names every command of every group on standard output", async ({ expect }) => {
    const groups: [string[], string[]][] = [
      [[], ["keys", "usage", "bans", "plans", "orders", "audit", "--json", "--url", "ADMIN_TOKEN"]],
      [["keys"], ["create", "list", "show", "update", "rotate", "disable", "enable", "revoke", "usage"]],
      [["bans"], ["list", "set", "lift"]],
      [["plans"], ["list", "set"]],
      [["orders"], ["import", "show", "ship", "cancelled"]],
      [
        ["keys", "rotate"],
        ["--grace", "24h"],
      ],
    ];
    await Promise.all(
      groups.map(async ([group, words]) => {
        const help = await printed(...group, "--help");
        for (const word of words) expect(help, group.join(" ")).toContain(word);
      }),
    );
  });
});

describe("the process", () => {
  it("prints its output and ends with exit code 0", async ({ expect }) => {
    const env = { ADMIN_URL: service.url.href, ADMIN_TOKEN };
    const { code, out } = await runProcess("npm", ["run", "-s", "admin", "--", "plans", "list"], env);
    expect(code).toBe(0);
    expect(out).toBe(await printed("plans", "list"));
  });

  it("ends with the exit code of a command that failed", async ({ expect }) => {
    const env = { ADMIN_URL: "http://localhost:1", ADMIN_TOKEN };
    expect(await runProgram("src/cli/main.ts", ["keys", "list"], env)).toEqual({
      code: 1,
      out: "",
      err: "error: http://localhost:1 cannot be reached. Is it running (npm start)?\n",
    });
  });
});
