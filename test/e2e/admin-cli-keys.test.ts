/** The command line's view of keys: owners, the sorted list, finding a key, retiring a secret. */
import { createHash } from "node:crypto";
import { beforeAll, describe, it } from "vitest";
import { type Finished, runAdmin } from "../support/cli.ts";
import { ADMIN_TOKEN, LIST, openService, type Service } from "../support/service.ts";

let service: Service;

beforeAll(async () => {
  service = await openService();
});

type Terminal = { input?: string; isInteractive?: boolean };

function cli(args: readonly string[], terminal: Terminal = {}): Promise<Finished> {
  return runAdmin(args, { ADMIN_URL: service.url.href, ADMIN_TOKEN }, terminal);
}

async function printed(...args: string[]): Promise<string> {
  const { code, out, err } = await cli(args);
  if (code !== 0) throw new Error(`exit code ${code}: ${err}`);
  return out;
}

async function create(name: string, ...options: string[]): Promise<{ id: string; key: string }> {
  return JSON.parse(await printed("keys", "create", "--name", name, "--plan", "pro", ...options, "--json"));
}

/** The id of a secret. */
function idOf(key: string): string {
  return createHash("sha256").update(key).digest("hex").slice(0, 16);
}

async function statusOf(key: string): Promise<number> {
  return (await service.call(key, LIST)).status;
}

describe("the owner and the note of a key", () => {
  it("are set, shown, changed, removed and audited", async ({ expect }) => {
    const owner = ["--owner", "Ada Lovelace", "--owner-email", "ada@example.test", "--note", "first\nsecond"];
    const { id } = await create("owned", ...owner);
    const shown = await printed("keys", "show", id);
    expect(shown).toMatch(/^owner +Ada Lovelace <ada@example\.test>$/m);
    expect(shown).toMatch(/^note +first\n +second$/m);
    const updated = await printed("keys", "update", id, "--owner", "none", "--note", "third");
    expect(updated).toMatch(/^owner +ada@example\.test$/m);
    expect(updated).toMatch(/^note +third$/m);
    const { audit } = JSON.parse(await printed("audit", "--object", id, "--json"));
    expect(audit[0]).toMatchObject({
      before: { ownerName: "Ada Lovelace", note: "first\nsecond" },
      after: { ownerName: null, note: "third" },
    });
    expect(audit[1].after).toMatchObject({ ownerName: "Ada Lovelace", ownerEmail: "ada@example.test" });
  });
});

describe("keys list", () => {
  it("sorts, and goes on after a page in the same order", async ({ expect }) => {
    for (const [name, owner] of [
      ["sorted b", "Zoe"],
      ["sorted C", "adam"],
      ["sorted a", "Mia"],
    ] as const) {
      await create(name, "--owner", owner);
    }
    const names = async (...options: string[]) =>
      (await printed("keys", "list", "--search", "sorted", ...options)).match(/sorted \w/g);
    expect(await names("--sort", "name")).toEqual(["sorted a", "sorted b", "sorted C"]);
    expect(await names("--sort", "owner", "--direction", "desc")).toEqual([
      "sorted b",
      "sorted a",
      "sorted C",
    ]);
    const page = await printed("keys", "list", "--search", "sorted", "--sort", "owner", "--limit", "2");
    const after = /^More: --after (\S+)$/m.exec(page)?.[1] ?? "";
    expect(await names("--sort", "owner", "--after", after)).toEqual(["sorted b"]);
    const refused = await cli(["keys", "list", "--after", after]);
    expect(refused).toMatchObject({ code: 1, out: "" });
  });

  it("has the keys that expire soon, and those that are not used", async ({ expect }) => {
    const { id } = await create("expiring", "--expires-at", "2099-01-01");
    const expiring = await printed("keys", "list", "--expiring-before", "2099-01-02", "--sort", "expiry");
    expect(expiring).toContain(id);
    expect(await printed("keys", "list", "--expiring-before", "2099-01-01", "--search", "expiring")).toBe(
      "Nothing to show.\n",
    );
    expect(await printed("keys", "list", "--unused-since", "2026-01-01", "--search", "expiring")).toContain(
      id,
    );
  });
});

describe("keys find", () => {
  it("takes the secret on standard input and sends only its hash", async ({ expect }) => {
    const { id, key } = await create("found");
    const requests: string[] = [];
    const { fetch } = globalThis;
    globalThis.fetch = async (input, init) => {
      requests.push(`${input instanceof Request ? input.url : input} ${init?.body}`);
      return fetch(input, init);
    };
    try {
      for (const terminal of [
        { input: `${key}\n` },
        { input: ` ${key}\n`, isInteractive: true },
        { input: `Authorization: Bearer ${key}\n` },
      ]) {
        const { code, out } = await cli(["keys", "find"], terminal);
        expect(code).toBe(0);
        expect(out).toMatch(new RegExp(`^id +${id}$`, "m"));
        expect(out).not.toContain(key);
      }
    } finally {
      globalThis.fetch = fetch;
    }
    expect(requests).toHaveLength(3);
    expect(requests.join()).toContain(createHash("sha256").update(key).digest("hex"));
    expect(requests.join()).not.toContain(key);
  });

  it("takes an id or a hint, and says when no key is found", async ({ expect }) => {
    const { id, key } = await create("hinted");
    expect(await printed("keys", "find", "--id", id)).toContain("hinted");
    expect(await printed("keys", "find", "--hint", key.slice(-4))).toContain(id);
    expect(await printed("keys", "find", "--hint", `${key.slice(0, 6)}...${key.slice(-4)}`)).toContain(id);
    expect(await printed("keys", "find", "--id", "key_1")).toBe("No key is found.\n");
  });

  it("refuses what is no whole secret without sending it", async ({ expect }) => {
    const { code, err } = await runAdmin(
      ["keys", "find"],
      { ADMIN_URL: "http://localhost:1", ADMIN_TOKEN },
      { input: "sok_mistyped\n" },
    );
    expect([code, err]).toEqual([
      2,
      "error: Standard input has no whole secret, or a mistyped one. --hint takes the end of one.\n",
    ]);
  });
});

describe("a secret among the arguments", () => {
  it("is refused before anything is sent, and is not printed", async ({ expect }) => {
    const key = `sok_${"a1".repeat(19)}`;
    for (const args of [
      ["keys", "show", key],
      ["keys", "list", `--search=Bearer ${key}`],
      ["bans", "list", "--key-id", key],
    ]) {
      const finished = await runAdmin(args, { ADMIN_URL: "http://localhost:1", ADMIN_TOKEN });
      expect(finished, args.join(" ")).toEqual({
        code: 2,
        out: "",
        err: "error: What looks like a secret, or a part of one, must not be an argument: `keys find` reads it from standard input, --hint takes its last 4 to 12 characters.\n",
      });
    }
    const args = ["keys", "list", "--search", ADMIN_TOKEN];
    expect(await runAdmin(args, { ADMIN_URL: "http://localhost:1", ADMIN_TOKEN })).toEqual({
      code: 2,
      out: "",
      err: "error: The admin token, a credential for Cloudflare Access, or a part of one, must not be an argument.\n",
    });
  });
});

describe("keys retire", () => {
  it("ends one secret after a question, and leaves the other one", async ({ expect }) => {
    const { id, key } = await create("retiring");
    const rotated = JSON.parse(await printed("keys", "rotate", id, "--grace", "24h", "--json"));
    const [secret, newSecret] = [idOf(key), idOf(rotated.key)];
    expect((await cli(["keys", "retire", id, secret])).err).toContain("This needs --yes");
    const refused = await cli(["keys", "retire", id, secret], { input: "no\n", isInteractive: true });
    expect(refused.err).toContain(
      `Key ${id} (retiring, plan pro, never used): its secret ${secret} (${key.slice(0, 6)}…${key.slice(-4)}) stops working at once.`,
    );
    expect(await statusOf(key)).toBe(200);
    const { out } = await cli(["keys", "retire", id, secret], { input: "yes\n", isInteractive: true });
    expect(out).toMatch(new RegExp(`^secret +${secret} \\S+ expired at `, "m"));
    expect([await statusOf(key), await statusOf(rotated.key)]).toEqual([401, 200]);
    const last = await cli(["keys", "retire", id, newSecret, "--yes"]);
    expect(last).toMatchObject({
      code: 1,
      err: "error: This is the key's only valid secret. Rotate the key, or revoke it.\n",
    });
  });

  it("takes the id of a secret, and no hint", async ({ expect }) => {
    const { id, key } = await create("not retired");
    const { code, err } = await cli(["keys", "retire", id, key.slice(-12), "--yes"]);
    expect(code).toBe(2);
    expect(err).toContain("Use the id of a secret");
  });
});

describe("bans list", () => {
  it("goes on after a page", async ({ expect }) => {
    const { id } = await create("banned twice");
    await printed("bans", "set", id, "--for", "1h", "--reason", "first");
    await printed("bans", "set", id, "--for", "1h", "--reason", "second");
    const page = await printed("bans", "list", "--key-id", id, "--limit", "1");
    const after = /^More: --after (\S+)$/m.exec(page)?.[1] ?? "";
    const rest = await printed("bans", "list", "--key-id", id, "--after", after);
    const reasons = [page, rest].map((text) => text.match(/first|second/g));
    expect(reasons.flat().sort()).toEqual(["first", "second"]);
  });
});

describe("bans lift --ban", () => {
  it("lifts that ban, and no other one", async ({ expect }) => {
    const { id } = await create("banned again");
    const idOf = (text: string) => /^ban +(ban_\S+)$/m.exec(text)?.[1] ?? "";
    const first = idOf(await printed("bans", "set", id, "--for", "1h", "--reason", "first"));
    const set = await printed("bans", "set", id, "--for", "30m", "--reason", "second");
    expect(set).toMatch(new RegExp(`^replaced +${first}, until \\S+: first$`, "m"));
    const second = idOf(set);
    const { code, err } = await cli(["bans", "lift", id, "--ban", first]);
    expect({ code, err }).toEqual({ code: 1, err: expect.stringContaining(`live ban is ${second}`) });
    expect(await printed("bans", "lift", id, "--ban", second)).toContain("Lifted");
  });
});

describe("bans list on a terminal of 80 columns", () => {
  it("shows when a lifted ban ended, and who lifted it", async ({ expect }) => {
    const { id } = await create("lifted");
    await printed("bans", "set", id, "--for", "1h", "--reason", "a mistake");
    await printed("bans", "lift", id);
    const { bans } = JSON.parse(await printed("bans", "list", "--key-id", id, "--json"));
    const [{ liftedAt, liftedBy }] = bans;
    const { out } = await cli(["bans", "list", "--state", "past"], { isInteractive: true });
    expect(out).toMatch(new RegExp(`^${id}  past +${liftedAt}  ${liftedBy}$`, "m"));
  });
});

describe("what happened to a key", () => {
  it("is listed by keys history", async ({ expect }) => {
    const { id } = await create("history");
    await printed("bans", "set", id, "--for", "1h", "--reason", "leaked");
    const text = await printed("keys", "history", id);
    expect(text).toMatch(/ ban .* leaked, until /);
    expect(text).toMatch(/ bans\.set /);
    expect((await printed("keys", "history", id, "--csv")).split("\n")[0]).toBe("when,what,who,details");
  });

  it("and which customers used most of their limit, with owner and plan, by usage", async ({ expect }) => {
    const { key } = await create("nearly", "--owner", "Mx Upgrade", "--per-day", "2");
    await statusOf(key);
    expect(await printed("usage", "--sort", "percent")).toMatch(/ nearly +Mx Upgrade +pro +2 +50 +1 +0 +0 /);
  });

  it("and who changed it, by the audit log with filters", async ({ expect }) => {
    const { id } = await create("audited");
    for (const name of ["one", "two", "three"]) await printed("keys", "update", id, "--name", name);
    const filters = ["--object", id, "--call", "keys.update", "--from", "00:00"];
    const text = await printed("audit", ...filters, "--limit", "2");
    expect(text).toMatch(/ name: two +name: three$/m);
    const next = /More: --after (\d+)/.exec(text)?.[1] ?? "";
    expect(await printed("audit", ...filters, "--after", next)).toMatch(/ name: audited +name: one$/m);
    expect(await printed("audit", ...filters, "--actor", "nobody")).toBe("Nothing to show.\n");
    expect(await printed("audit", ...filters, "--until", "2020-01-01")).toBe("Nothing to show.\n");
    expect((await printed("audit", ...filters, "--csv")).split("\n")[0]).toBe(
      "when,who,call,object,before,after",
    );
    expect(await cli(["audit", "--call", "keys.changed"])).toMatchObject({ code: 2 });
  });
});
