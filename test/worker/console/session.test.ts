/** Who may use the console: sessions that begin with the admin token, and identities from Access. */
import { env } from "cloudflare:workers";
import { describe, it } from "vitest";
import type { Bindings } from "../../../src/worker/context.ts";
import { hashKey } from "../../../src/worker/key/mac.ts";
import { operatorsApp } from "../../../src/worker/operators.ts";
import { sign, startTeam } from "../../support/access-team.ts";
import { createKey } from "../../support/factories.ts";
import { type App, log, setClock, startApp, startEachTestAt, watchDatabase } from "../../support/worker.ts";
import { operatorOf } from "../admin/admin-support.ts";
import { formOn } from "./browser.ts";

const NOW_MS = 2_200_000_000_000;
const HOUR_MS = 3_600_000;
const ORIGIN = "https://orders.example";

startEachTestAt(NOW_MS);

/** As a browser sends the form of one of the console's pages. */
function post(app: App, path: string, fields: Record<string, string>, headers: HeadersInit = {}) {
  const body = new URLSearchParams(fields);
  const sent = { Origin: ORIGIN, ...headers };
  return app(`/console${path}`, { method: "POST", body, headers: sent, redirect: "manual" });
}

const signIn = (app: App, fields: Record<string, string> = {}, headers: HeadersInit = {}) =>
  post(app, "/sign-in", { token: env.ADMIN_TOKEN, operator: "mo", ...fields }, headers);

const cookieIn = (response: Response) => response.headers.get("Set-Cookie") ?? "";
const withoutAttributes = (cookie: string) => cookie.split(";")[0] ?? "";

async function session(replaced: Partial<Bindings> = {}) {
  const app = startApp(replaced);
  const cookie = withoutAttributes(cookieIn(await signIn(app)));
  const get = async (path = "", headers: HeadersInit = { Cookie: cookie }) => {
    const response = await app(`/console${path}`, { headers });
    return { status: response.status, text: await response.text(), headers: response.headers };
  };
  return { app, cookie, get };
}

/** The form, and nothing else. */
const isSignIn = ({ status, text }: { status: number; text: string }) =>
  status === 200 && text.includes("<h1>Sign in</h1>") && !text.includes("<nav");

describe("signing in", () => {
  it("sets a cookie that scripts and other sites do not get, and no other host sets, for 12 hours", async ({
    expect,
  }) => {
    const response = await signIn(startApp());
    expect([response.status, response.headers.get("Location")]).toEqual([303, "/console"]);
    const [value, ...attributes] = cookieIn(response).split("; ");
    expect(attributes.sort()).toEqual(["HttpOnly", "Max-Age=43200", "Path=/", "SameSite=Strict", "Secure"]);
    expect(value).toMatch(/^__Host-session=[\w-]{43}$/);
  });

  it("sets a cookie for https where the client used https, and for http where it did not", async ({
    expect,
  }) => {
    const cookieAt = async (origin: string, headers: HeadersInit = {}) => {
      const body = new URLSearchParams({ token: env.ADMIN_TOKEN });
      const init = {
        method: "POST",
        body,
        headers: { Origin: origin, ...headers },
        redirect: "manual",
      } as const;
      return cookieIn(
        await startApp()("/console/sign-in", { ...init, origin: origin.replace("https", "http") }),
      );
    };
    // Safari takes no cookie with Secure there.
    expect(await cookieAt("http://localhost:8787")).toMatch(/^session-8787=(?!.*Secure).*; Path=\/;/);
    // The browser has one jar for all ports of this machine.
    expect(await cookieAt("http://localhost:8788")).toMatch(/^session-8788=/);
    const visitor = { "CF-Visitor": '{"scheme":"https"}' };
    expect(await cookieAt("https://orders.example", visitor)).toMatch(/^__Host-session=.*; Secure/);
  });

  it("returns to the page that was asked for, and to no other site", async ({ expect }) => {
    const app = startApp();
    const locationFor = async (to: string) => (await signIn(app, { to })).headers.get("Location");
    expect(await locationFor("/console/keys?status=banned")).toBe("/console/keys?status=banned");
    for (const to of [
      "https://attacker.example",
      "//attacker.example",
      "/consoles",
      "/console.attacker.example",
      "/admin/keys",
      "/console/../..//attacker.example/",
      "/console\r\nX-Injected: 1",
    ])
      expect(await locationFor(to), to).toBe("/console");
    expect(await (await app("/console/keys?status=banned")).text()).toContain(
      'name="to" value="/console/keys?status=banned"',
    );
    expect(await (await app(`/console/sok_${"a".repeat(45)}`)).text()).toContain(
      'name="to" value="/console"',
    );
  });

  it("with a wrong token is a 401 without a cookie, which does not repeat the token", async ({ expect }) => {
    for (const token of ["wrong-token-of-somebody", "", `${env.ADMIN_TOKEN}x`]) {
      const response = await signIn(startApp(), { token });
      expect([response.status, cookieIn(response)]).toEqual([401, ""]);
      const text = await response.text();
      expect(text).toContain("Missing or invalid admin token.");
      const [field] = /<input [^>]*name="token"[^>]*>/.exec(text) ?? [];
      expect(field).toMatch(/aria-invalid="true".* autofocus/);
      if (token !== "") expect(text).not.toContain(token);
    }
  });

  it("with a name that must not be stored is a 400, and no session", async ({ expect }) => {
    for (const operator of ["a\u202Eb", "x".repeat(65), env.ADMIN_TOKEN]) {
      const response = await signIn(startApp(), { operator });
      expect([response.status, cookieIn(response)]).toEqual([400, ""]);
      expect(await response.text()).not.toContain(operator);
    }
  });

  it("has the per-IP rate limit of wrong tokens", async ({ expect }) => {
    const app = startApp({ ADMIN_SIGN_IN_IP_RATE_LIMIT: { limit: async () => ({ success: false }) } });
    const response = await signIn(app, { token: "wrong" }, { "CF-Connecting-IP": "192.0.2.1" });
    expect(response.status).toBe(429);
  });
});

describe("a session", () => {
  it("shows pages, who reads them and where, and its operator is in the audit log", async ({ expect }) => {
    const { app, cookie, get } = await session({ ENVIRONMENT_NAME: "production" });
    const { id } = await createKey({ plan: "free" });
    const { text } = await get();
    for (const part of ["<h1>Overview</h1>", ">mo<", ">production<", "· production</title>"])
      expect(text).toContain(part);
    const changed = await post(app, `/keys/${id}/disable`, {}, { Cookie: cookie });
    expect(changed.headers.get("Location")).toContain(`/console/keys/${id}?done=`);
    const actor = await env.DB.prepare("select actor from audit_log where object = ?")
      .bind(id)
      .first("actor");
    expect(actor).toBe("mo");
  });

  it("ends after 12 hours in use, and after two hours without a request", async ({ expect }) => {
    const { get } = await session();
    for (let hours = 1; hours < 12; hours++) {
      setClock(NOW_MS + hours * HOUR_MS);
      expect((await get()).text, `${hours} hours`).toContain("<h1>Overview</h1>");
    }
    setClock(NOW_MS + 12 * HOUR_MS);
    expect(isSignIn(await get())).toBe(true);
    const { get: getLater } = await session();
    setClock(NOW_MS + 14 * HOUR_MS);
    expect(isSignIn(await getLater())).toBe(true);
  });

  it("costs a page no write within five minutes", async ({ expect }) => {
    const { cookie } = await session();
    const database = watchDatabase();
    const app = startApp({ DB: database.DB });
    const writesAfter = async (minutes: number) => {
      setClock(NOW_MS + minutes * 60_000);
      await app("/console/plans", { headers: { Cookie: cookie } });
      return database.queries().filter((sql) => !/^\s*select/i.test(sql)).length;
    };
    expect([await writesAfter(4), await writesAfter(6), await writesAfter(10)]).toEqual([0, 1, 0]);
  });

  it("is not what D1 has of it, nor a session of another host", async ({ expect }) => {
    await env.DB.exec("delete from console_sessions");
    const { cookie, get } = await session();
    const row = await env.DB.prepare("select * from console_sessions").first();
    for (const text of Object.values(row ?? {})) {
      // A short text, such as the name, can be in a random cookie.
      if (String(text).length > 12) expect(cookie).not.toContain(text);
      expect(isSignIn(await get("", { Cookie: `__Host-session=${text}` })), String(text)).toBe(true);
    }
    expect(isSignIn(await get("", { Cookie: cookie.replace("__Host-", "") }))).toBe(true);
    // A page of another host of the domain can set such a cookie, and browsers may send the cookie first.
    expect((await get("/plans", { Cookie: `session=x; ${cookie}` })).text).toContain("<h1>Plans</h1>");
  });

  it("is a 503 while D1 cannot be read, and no form for the token", async ({ expect }) => {
    const { cookie } = await session();
    const database = watchDatabase();
    database.failWith("D1_ERROR: D1 DB is overloaded. Requests queued for too long.");
    const response = await startApp({ DB: database.DB })("/console", { headers: { Cookie: cookie } });
    expect([response.status, await response.text()]).toEqual([503, expect.not.stringContaining("<form")]);
  });

  it("goes on while D1 takes no writes: pages are read, a sign-in and a change are a 503", async ({
    expect,
  }) => {
    const { cookie } = await session();
    const { id } = await createKey({ plan: "free" });
    const database = watchDatabase();
    const isWrite = /^\s*(insert|update|delete|replace)/i;
    database.failWith("D1_ERROR: Exceeded maximum DB size", isWrite);
    const app = startApp({ DB: database.DB });
    setClock(NOW_MS + HOUR_MS);
    const sections = "keys customers usage orders orders/cancelled plans audit alerts";
    for (const path of ["", `/keys/${id}`, ...sections.split(" ").map((section) => `/${section}`)]) {
      const page = await app(`/console${path}`, { headers: { Cookie: cookie } });
      expect(page.status, path).toBe(200);
    }
    for (const change of [signIn(app), post(app, `/keys/${id}/disable`, {}, { Cookie: cookie })]) {
      const response = await change;
      expect([response.status, await response.text()]).toEqual([503, expect.stringContaining("no changes")]);
    }
    expect(log.lines()).toContainEqual(expect.objectContaining({ event: "session_use_not_stored" }));
  });

  it("ends by signing out, and by signing in again", async ({ expect }) => {
    const { app, cookie, get } = await session();
    const again = await signIn(app, {}, { Cookie: cookie });
    expect(isSignIn(await get())).toBe(true);
    const headers = { Cookie: withoutAttributes(cookieIn(again)) };
    expect((await get("", headers)).text).toContain("<h1>Overview</h1>");
    const response = await post(app, "/sign-out", {}, headers);
    expect([response.status, response.headers.get("Location")]).toEqual([303, "/console"]);
    expect(cookieIn(response)).toMatch(/^__Host-session=; Max-Age=0; Path=\/;.* Secure/);
    expect(response.headers.get("Clear-Site-Data")).toBe('"cache"');
    expect(isSignIn(await get("", headers))).toBe(true);
  });

  it("is listed without a secret, and ends with the next request when an operator ends it", async ({
    expect,
  }) => {
    await env.DB.exec("delete from console_sessions");
    const [mine, other] = [await session(), await session()];
    setClock(NOW_MS + 600_000);
    const { app, cookie, get } = mine;
    await get();
    const { text } = await get("/sessions");
    const { path, fields } = formOn(text.slice(text.indexOf("</thead>")), "Sign out");
    expect(path).toBe("");
    expect(text.match(/<th scope="row">mo</g)).toHaveLength(2);
    for (const secret of [mine, other].map((each) => each.cookie.split("=")[1] ?? ""))
      expect(text).not.toContain(secret);
    const { results } = await env.DB.prepare("select id, id_hash from console_sessions").all();
    const idOf = async (of: string) => {
      const hash = await hashKey(of.split("=")[1] ?? "");
      return String(results.find(({ id_hash }) => id_hash === hash)?.id);
    };
    const ended = await idOf(other.cookie);
    expect(Object.keys(fields)).toEqual(["session"]);
    const done = await post(app, "/sessions", { session: ended }, { Cookie: cookie });
    expect(await done.text()).toContain(`${ended} is ended, which signs out mo.`);
    expect([isSignIn(await other.get()), isSignIn(await get())]).toEqual([true, false]);
    expect((await post(app, "/sessions", { session: ended }, { Cookie: cookie })).status).toBe(404);
    setClock(NOW_MS + 3 * HOUR_MS);
    const operator = operatorOf(app);
    expect((await operator("GET", "/sessions")).body).toEqual({ sessions: [] });
    const { audit } = (await operator("GET", `/audit?object=${ended}`)).body;
    expect(audit).toMatchObject([{ call: "sessions.end", actor: "mo", before: { operator: "mo" } }]);
  });

  it("names its operator in the log: when it begins and ends, and with each request", async ({ expect }) => {
    const { app, cookie, get } = await session();
    await get("/plans");
    await post(app, "/sign-out", {}, { Cookie: cookie });
    await post(app, "/sign-out", {}, { Cookie: cookie });
    expect(log.lines()).toMatchObject([
      { event: "admin_signed_in", operator: "mo", network: "unknown" },
      { event: "request", status: 303 },
      { event: "request", route: "/console/plans", operator: "mo" },
      { event: "admin_signed_out", operator: "mo" },
      { event: "request", status: 303 },
      { event: "request", status: 303 },
    ]);
    expect(log.text()).not.toContain(cookie.split("=")[1]);
  });
});

describe("what an operator types", () => {
  it("is in no address if it is the admin token or a secret", async ({ expect }) => {
    const { app, cookie, get } = await session();
    const { key } = await createKey();
    const search = (text: string) => post(app, "/find", { text }, { Cookie: cookie });
    expect((await search(env.ADMIN_TOKEN)).status).toBe(400);
    expect((await search(`Bearer ${key}`)).headers.get("Location")).toMatch(/^\/console\/keys\/key_\w{12}$/);
    const refused = await get(`/keys?search=${key}`);
    expect(refused.status).toBe(400);
    expect(refused.text).toContain("A secret must not be in an address.");
  });

  it("is refused unread if it is too large, and if it is no form", async ({ expect }) => {
    const { app, cookie } = await session();
    const large = await signIn(app, { token: "x".repeat(100_000) });
    expect(large.status).toBe(413);
    const headers = { Cookie: cookie, Origin: ORIGIN, "Content-Type": "multipart/form-data" };
    const broken = await app("/console/find", { method: "POST", body: "x", headers });
    expect(broken.status).toBe(400);
  });
});

describe("without a session", () => {
  const PAGES = ["", "/keys", "/keys/new", "/keys/KEY", "/find?text=test", "/orders"];
  const MORE = ["/orders/1", "/orders/load", "/orders/cancelled", "/plans", "/audit", "/nothing"];

  it.for([...PAGES, ...MORE])("the page /console%s is the form for signing in", async (path, { expect }) => {
    const { id } = await createKey();
    const response = await startApp()(`/console${path.replace("KEY", id)}`);
    const text = await response.text();
    expect(isSignIn({ status: response.status, text })).toBe(true);
    expect(text.replace(/name="to" value="[^"]*"/, "")).not.toContain(id);
  });

  it("every change is a 401 that says so and does nothing, and the sign-in leads to a page", async ({
    expect,
  }) => {
    const { id } = await createKey({ plan: "free" });
    const { app, get } = await session();
    const changes = () => env.DB.prepare("select count(*) as n from audit_log").first("n");
    const before = await changes();
    const routes = operatorsApp().routes.filter(
      ({ method, path }) => method === "POST" && /^\/console\/(?!sign-)/.test(path),
    );
    expect(routes.length).toBeGreaterThan(10);
    const pages = new Set<string>();
    for (const { path } of routes) {
      const typed = { version: "1", apply: "true", sure: "true", name: "x", plan: "pro", ids: "1" };
      const sentTo = path.replace("/console", "").replace(":id", path.includes("/plans/") ? "pro" : id);
      const ended = await post(app, sentTo, typed);
      const page = await ended.text();
      expect([ended.status, page], path).toEqual([401, expect.stringContaining("nothing was done")]);
      pages.add(formOn(page, "Sign in").fields.to ?? "");
    }
    for (const to of pages) {
      const shown = await get(to.replace("/console", ""));
      expect(shown.text, to).not.toContain("The requested resource could not be found.");
    }
    expect(await changes()).toBe(before);
  });

  it("there is no console where neither a token nor Access is configured", async ({ expect }) => {
    const app = startApp({ ADMIN_TOKEN: "" });
    expect([(await app("/console")).status, (await signIn(app, { token: "undefined" })).status]).toEqual([
      404, 404,
    ]);
  });
});

it("a page that another site links to is asked for again: the browser then sends its cookie", async ({
  expect,
}) => {
  const response = await startApp()("/console/keys", { headers: { "Sec-Fetch-Site": "cross-site" } });
  expect(await response.text()).toContain('http-equiv="refresh" content="0"');
});

describe("every answer of the console", () => {
  it("is stored nowhere, is in no frame, and loads only its own scripts and styles", async ({ expect }) => {
    const { app, cookie, get } = await session();
    const answers = [
      await get(),
      await get("/nothing"),
      await get("", {}),
      await signIn(app, { token: "wrong" }),
      await post(app, "/sign-out", {}, { Cookie: cookie }),
      await post(app, "/sign-out", {}, { Origin: "https://attacker.example" }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([200, 404, 200, 401, 303, 403]);
    for (const { headers, status } of answers) {
      expect(headers.get("Cache-Control"), String(status)).toBe("no-store");
      const policy = headers.get("Content-Security-Policy") ?? "";
      for (const part of [
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "frame-ancestors 'none'",
      ])
        expect(policy.split("; "), String(status)).toContain(part);
      expect(policy).not.toContain("unsafe");
    }
  });
});

describe("behind Cloudflare Access", () => {
  it("a name that was typed never looks like one that Access has proven", async ({ expect }) => {
    const team = await startTeam();
    const { id } = await createKey();
    // The session may have begun before Access was configured.
    const Cookie = withoutAttributes(cookieIn(await signIn(startApp(), { operator: "mo@example.com" })));
    await post(startApp(team.bindings), `/keys/${id}/disable`, {}, { Cookie });
    const actor = await env.DB.prepare("select actor from audit_log where object = ?")
      .bind(id)
      .first("actor");
    expect(actor).toBe("admin token (mo@example.com)");
  });

  it("the identity is the operator, without a form or a cookie", async ({ expect }) => {
    const team = await startTeam();
    const assertion = await sign(team.domain, await team.addKey("k1"), "k1");
    const headers = { "Cf-Access-Jwt-Assertion": assertion };
    const { id } = await createKey();
    for (const token of [env.ADMIN_TOKEN, ""]) {
      const app = startApp({ ...team.bindings, ADMIN_TOKEN: token });
      expect(await (await app("/console", { headers })).text()).toMatch(/Signed in:.*mo@example.com/);
      expect((await post(app, `/keys/${id}/disable`, {}, headers)).status).toBe(303);
      const signedOut = await post(app, "/sign-out", {}, headers);
      expect(signedOut.headers.get("Location")).toBe("/cdn-cgi/access/logout");
    }
    const actor = await env.DB.prepare("select actor from audit_log where object = ?")
      .bind(id)
      .first("actor");
    expect(actor).toBe("mo@example.com");
  });

  it("without an identity and without a token there is a 401, and no form", async ({ expect }) => {
    const team = await startTeam();
    const response = await startApp({ ...team.bindings, ADMIN_TOKEN: "" })("/console");
    expect(response.status).toBe(401);
    expect(await response.text()).not.toContain("<form");
  });

  it("an identity that is not valid is a 401, even with a session", async ({ expect }) => {
    const team = await startTeam();
    const pair = await team.addKey("k1");
    const { get, cookie } = await session(team.bindings);
    const assertion = await sign(team.domain, pair, "k1", { aud: ["c".repeat(64)] });
    const answer = await get("", { Cookie: cookie, "Cf-Access-Jwt-Assertion": assertion });
    expect(answer.status).toBe(401);
    expect(answer.text).not.toContain("<nav");
  });
});
