/** Who may call the admin API, when it is off, and what the log has of wrong tokens. */
import { env } from "cloudflare:workers";
import { describe, it } from "vitest";
import { adminRoutes } from "../../../src/worker/admin/routes.ts";
import { createKey } from "../../support/factories.ts";
import { log, startApp } from "../../support/worker.ts";

const USABLE = "9f86d081884c7d659a2feaa0c55ad015";

const everyCall = adminRoutes.routes
  .filter(({ method }) => method !== "ALL")
  .map(({ method, path }) => ({ method, path: `/admin${path}`.replace(/:\w+/g, "1") }));

async function statusesOf(app: ReturnType<typeof startApp>, key: string): Promise<Set<number>> {
  const calls = everyCall.map(async ({ method, path }) => (await app(path, { method, key })).status);
  return new Set(await Promise.all(calls));
}

describe("without a usable admin token configured", () => {
  it("every path is a 404, and nothing is logged", async ({ expect }) => {
    expect(everyCall.length).toBeGreaterThan(15);
    const app = startApp({ ADMIN_TOKEN: "" });
    for (const key of ["", "undefined", "x", env.ADMIN_TOKEN]) {
      expect(await statusesOf(app, key)).toEqual(new Set([404]));
    }
    expect(log.lines().every(({ event }) => event === "request")).toBe(true);
  });

  for (const [what, token] of [
    ["of 31 characters", USABLE.slice(1)],
    ["with a blank, which a bearer credential cannot contain,", `${USABLE} x`],
  ] as const) {
    it(`a token ${what} is not accepted, and the log says why`, async ({ expect }) => {
      expect(await statusesOf(startApp({ ADMIN_TOKEN: token }), token)).toEqual(new Set([404]));
      expect(log.lines()).toContainEqual(
        expect.objectContaining({
          event: "setting_wrong",
          names: "ADMIN_TOKEN",
          rule: "must have 32 characters or more, and no blanks",
        }),
      );
      expect(log.text()).not.toContain(token);
    });
  }
});

describe("without the admin token", () => {
  it("every path and method is a 401, also with an API key as the token", async ({ expect }) => {
    const app = startApp();
    for (const key of ["", `${env.ADMIN_TOKEN}x`, (await createKey()).key])
      expect(await statusesOf(app, key)).toEqual(new Set([401]));
    for (const path of ["/admin", "/admin/", "/admin/nothing", "/admin/orders/007"]) {
      for (const method of ["GET", "HEAD", "OPTIONS"])
        expect((await app(path, { method })).status, `${method} ${path}`).toBe(401);
      const known = await app(path, { key: env.ADMIN_TOKEN });
      expect(known.status).toBe(404);
    }
    const { headers } = await app("/admin/plans");
    expect(headers.get("WWW-Authenticate")).toBe('Bearer realm="store-orders-admin"');
  });
});

describe("the header X-Operator", () => {
  it("names the operator in the audit log; a name that would not be stored as it is is a 400", async ({
    expect,
  }) => {
    const app = startApp();
    const actorFor = async (name: string) => {
      const created = await app("/admin/keys", {
        method: "POST",
        key: env.ADMIN_TOKEN,
        headers: { "X-Operator": name },
        body: JSON.stringify({ name: "named", plan: "free" }),
      });
      if (created.status === 400) return (await created.json<{ message: string }>()).message;
      const { id } = await created.json<{ id: string }>();
      return env.DB.prepare("select actor from audit_log where object = ?").bind(id).first<string>("actor");
    };
    expect(await actorFor("Mo")).toBe("Mo");
    const longest = `${"Mo ".repeat(21)}M`;
    expect(await actorFor(longest)).toBe(longest);
    expect(await actorFor("")).toBe("operator");
    for (const name of [
      "Zoë",
      "Pat O'Neil",
      "ada+ops@example.com",
      "Kim (night shift)",
      "王小明",
      "👩‍💻 नमस्ते",
    ]) {
      expect(await actorFor(name)).toBe(name);
      expect(await actorFor(`utf-8'en'${encodeURIComponent(name)}`)).toBe(name);
    }
    for (const name of ["Zo\uFFFD", "UTF-8''Zo%EB", "UTF-8''%"])
      expect(await actorFor(name)).toBe("X-Operator: must be UTF-8, or as in UTF-8''Zo%C3%AB");
    expect(await actorFor(`${longest}o`)).toBe("X-Operator: must have at most 64 characters");
    expect(await actorFor("a\u202Eb")).toBe("X-Operator: must not have control or bidirectional characters");
    const secret = "sok_0123456789abcdefghijABCDEFGHIJ0123456789";
    expect(await actorFor(secret)).toBe("X-Operator: must not contain an API key");
    expect(await actorFor(env.ADMIN_TOKEN)).toBe("The admin token must not be in a body, a query or a name.");
  });
});

describe("a token of the admin API, of any characters,", () => {
  const token = String.raw`Zk4.9vQ2.tR8w@Lm3x/Pb6y.Hd1s"Gc7\Qa`;
  const dotted = "Zk4.9vQ2.tR8w@Lm3x.Pb6y.Hd1s.Gc7n.Qa5e";

  it("is not stored, wherever an operator puts it", async ({ expect }) => {
    for (const [each, vars] of [
      [token, { ADMIN_TOKEN: token, ADMIN_READ_TOKEN: dotted }],
      [dotted, { ADMIN_TOKEN: dotted }],
      [dotted, { ADMIN_TOKEN: token, ADMIN_READ_TOKEN: dotted }],
    ] as const) {
      const app = startApp(vars);
      const key = vars.ADMIN_TOKEN;
      const send = (body: object) => app("/admin/keys", { method: "POST", key, body: JSON.stringify(body) });
      const named = { name: "named", plan: "free" };
      for (const text of [each, `token: ${each}.`]) {
        for (const wrong of [
          { ...named, name: text },
          { ...named, note: text },
          { ...named, [text]: 1 },
        ]) {
          const refused = await send(wrong);
          expect(refused.status).toBe(400);
          expect(await refused.text()).not.toContain(JSON.stringify(each).slice(1, -1));
        }
        const search = new URLSearchParams({ search: text });
        expect((await app(`/admin/keys?${search}`, { key })).status).toBe(400);
      }
      const headers = { "X-Operator": `token: ${each}.` };
      expect((await app("/admin/plans", { key, headers })).status).toBe(400);
      expect(log.text()).not.toContain(each);
    }
  });
});

describe("requests with a wrong token", () => {
  it("have a per-IP rate limit and are in the log, and those with the right token are not", async ({
    expect,
  }) => {
    const tries: string[] = [];
    const limit = async ({ key }: { key: string }) => {
      tries.push(key);
      return { success: tries.filter((address) => address === key).length <= 2 };
    };
    const app = startApp({ ADMIN_SIGN_IN_IP_RATE_LIMIT: { limit } });
    const from = async (address: string, key: string) => {
      const headers = { "CF-Connecting-IP": address };
      const { status, headers: sent } = await app("/admin/plans", { key, headers });
      expect(sent.get("Retry-After")).toBe(status === 429 ? "60" : null);
      return status;
    };
    const [wrong, address] = ["a-wrong-admin-token-of-some-length", "2001:db8:1:2::8"];
    expect([await from(address, wrong), await from(address, "b")]).toEqual([401, 401]);
    expect(await from(address, "c")).toBe(429);
    expect(await from("192.0.2.2", "c")).toBe(401);
    expect(await from(address, env.ADMIN_TOKEN)).toBe(200);
    expect(tries).toHaveLength(4);
    const network = "2001:db8:1:2::/64";
    expect(log.lines().filter(({ event }) => event !== "request")).toMatchObject([
      { event: "admin_sign_in_failed", network },
      { event: "admin_sign_in_failed", network },
      { event: "ip_rate_limit_exceeded", network, limit: 200 },
      { event: "admin_sign_in_failed", network: "192.0.2.2" },
    ]);
    expect(log.text()).not.toContain(wrong);
  });
});
