/** Cloudflare Access before the admin API: whose identity is accepted, and whose name the audit log has. */
import { env } from "cloudflare:workers";
import { exportJWK, SignJWT } from "jose";
import { describe, it, vi } from "vitest";
import { AUD, type Claims, type KeyPair, pairAt, sign, startTeam } from "../../support/access-team.ts";
import { type App, log, setClock, startApp, startEachTestAt } from "../../support/worker.ts";

const NOW_SECONDS = 2_100_000_000;

startEachTestAt(NOW_SECONDS * 1000);

const withAssertion = (assertion: string, init: RequestInit & { key?: string } = {}) => ({
  ...init,
  headers: { "Cf-Access-Jwt-Assertion": assertion, ...init.headers },
});

const NEW_KEY = { method: "POST", body: JSON.stringify({ name: "new", plan: "free" }) };

async function lastActor(app: App): Promise<unknown> {
  const response = await app("/admin/audit?limit=1", { key: env.ADMIN_TOKEN });
  const { audit } = (await response.json()) as { audit: { actor: string }[] };
  return audit[0]?.actor;
}

async function started() {
  const team = await startTeam();
  const pair = await team.addKey("k1");
  return { team, pair, app: startApp(team.bindings) };
}

describe("an identity that Access has proven", () => {
  it("opens the admin API without a token, and its e-mail is the actor, whatever X-Operator says", async ({
    expect,
  }) => {
    const { team, pair, app } = await started();
    const assertion = await sign(team.domain, pair, "k1");
    const headers = { "X-Operator": "somebody else" };
    expect((await app("/admin/keys", withAssertion(assertion, { ...NEW_KEY, headers }))).status).toBe(201);
    expect(await lastActor(app)).toBe("mo@example.com");
    const withToken = withAssertion(assertion, { ...NEW_KEY, headers, key: env.ADMIN_TOKEN });
    expect((await app("/admin/keys", withToken)).status).toBe(201);
    expect(await lastActor(app)).toBe("mo@example.com");
    expect(team.reads).toBe(1);
  });

  it("opens the admin API where no token is configured", async ({ expect }) => {
    const { team, pair } = await started();
    const app = startApp({ ...team.bindings, ADMIN_TOKEN: "" });
    expect((await app("/admin/plans", withAssertion(await sign(team.domain, pair, "k1")))).status).toBe(200);
    expect((await app("/admin/plans")).status).toBe(401);
    expect((await app("/admin/plans", { key: "undefined" })).status).toBe(401);
  });

  it("can be a service token's, whose client id is the actor", async ({ expect }) => {
    const { team, pair, app } = await started();
    const claims = { email: undefined, common_name: "0123abcd.access", sub: "" };
    const assertion = await sign(team.domain, pair, "k1", claims);
    expect((await app("/admin/keys", withAssertion(assertion, NEW_KEY))).status).toBe(201);
    expect(await lastActor(app)).toBe("0123abcd.access");
  });

  it("is accepted with a new key of the team, read at most every 30 seconds", async ({ expect }) => {
    const { team, pair, app } = await started();
    const get = async (assertion: string) => (await app("/admin/plans", withAssertion(assertion))).status;
    expect(await get(await sign(team.domain, pair, "k1"))).toBe(200);
    const rotated = await sign(team.domain, await team.addKey("k2"), "k2");
    expect([await get(rotated), team.reads]).toEqual([401, 1]);
    setClock((NOW_SECONDS + 31) * 1000);
    expect([await get(rotated), team.reads]).toEqual([200, 2]);
    expect([await get(await sign(team.domain, pair, "k1")), team.reads]).toEqual([200, 2]);
  });
});

describe("requests that arrive at once in an isolate without the team's keys", () => {
  it("do not wait for each other's reads", async ({ expect }) => {
    const { team, pair, app } = await started();
    const assertion = await sign(team.domain, pair, "k1");
    const release = team.hold();
    const first = app("/admin/plans", withAssertion(assertion));
    await vi.waitFor(() => expect(team.reads).toBe(1));
    team.held = Promise.resolve();
    const others = Array.from({ length: 20 }, () => app("/admin/plans", withAssertion(assertion)));
    for (const { status } of await Promise.all(others)) expect(status).toBe(200);
    release();
    expect((await first).status).toBe(200);
  });
});

describe("an assertion that is not valid", () => {
  const claimed: [what: string, reason: string, claims: Claims][] = [
    ["expired", "ERR_JWT_EXPIRED: exp", { exp: NOW_SECONDS - 31 }],
    ["without an expiry", "ERR_JWT_CLAIM_VALIDATION_FAILED: exp", { exp: undefined }],
    ["not valid yet", "ERR_JWT_CLAIM_VALIDATION_FAILED: nbf", { nbf: NOW_SECONDS + 31 }],
    ["for another application", "ERR_JWT_CLAIM_VALIDATION_FAILED: aud", { aud: "c".repeat(64) }],
    ["for no application", "ERR_JWT_CLAIM_VALIDATION_FAILED: aud", { aud: undefined }],
    ["of another team", "ERR_JWT_CLAIM_VALIDATION_FAILED: iss", { iss: "https://x.cloudflareaccess.com" }],
    ["for the session with the team", "no application token", { type: "org" }],
    ["that names nobody", "names nobody", { email: undefined }],
    ["whose name has a blank", "names nobody", { email: "admin token" }],
  ];
  const forged: [what: string, reason: string, make: (domain: string, pair: KeyPair) => Promise<string>][] = [
    [
      "signed with another key",
      "ERR_JWS_SIGNATURE_VERIFICATION_FAILED",
      async (domain) => sign(domain, await pairAt(9), "k1"),
    ],
    [
      "with a key id that nobody has",
      "ERR_JWKS_NO_MATCHING_KEY",
      async (domain) => sign(domain, await pairAt(9), "unknown"),
    ],
    [
      "signed with HS256 and the public key as the secret",
      "ERR_JOSE_ALG_NOT_ALLOWED",
      async (domain, { publicKey }) => {
        const secret = new TextEncoder().encode(JSON.stringify(await exportJWK(publicKey)));
        const claims = { iss: `https://${domain}`, aud: AUD, iat: NOW_SECONDS, exp: NOW_SECONDS + 60 };
        return new SignJWT(claims).setProtectedHeader({ alg: "HS256", kid: "k1" }).sign(secret);
      },
    ],
    ["that is no JWT", "ERR_JWS_INVALID", async () => "x"],
    ["that is empty", "ERR_JWS_INVALID", async () => ""],
    ...claimed.map(([what, reason, claims]): (typeof forged)[number] => [
      what,
      reason,
      (domain, pair) => sign(domain, pair, "k1", claims),
    ]),
  ];
  for (const [what, reason, make] of forged) {
    it(`is a 401, also beside the right token: ${what}`, async ({ expect }) => {
      const { team, pair, app } = await started();
      const assertion = await make(team.domain, pair);
      const response = await app("/admin/plans", withAssertion(assertion, { key: env.ADMIN_TOKEN }));
      expect(response.status).toBe(401);
      expect(await response.json()).toMatchObject({ code: "unauthorized", status: 401 });
      expect(log.lines()).toContainEqual(expect.objectContaining({ event: "admin_sign_in_failed", reason }));
      if (assertion.length > 10) expect(log.text()).not.toContain(assertion);
    });
  }

  it("is accepted up to 30 seconds after its expiry, for clocks that differ", async ({ expect }) => {
    const { team, pair, app } = await started();
    const assertion = await sign(team.domain, pair, "k1", { exp: NOW_SECONDS - 29 });
    expect((await app("/admin/plans", withAssertion(assertion))).status).toBe(200);
  });
});

describe("while the team's keys cannot be read", () => {
  it("an assertion is a 503 with Retry-After, and the token works without one", async ({ expect }) => {
    const { team, pair, app } = await started();
    const assertion = await sign(team.domain, pair, "k1");
    team.isDown = true;
    const refused = await app("/admin/plans", withAssertion(assertion, { key: env.ADMIN_TOKEN }));
    expect([refused.status, refused.headers.get("Retry-After")]).toEqual([503, "5"]);
    expect((await app("/admin/plans", { key: env.ADMIN_TOKEN })).status).toBe(200);
    team.isDown = false;
    expect((await app("/admin/plans", withAssertion(assertion))).status).toBe(200);
  });
});

describe("the admin token beside Access", () => {
  it("works without an assertion, and the audit log cannot take its name for a proven one", async ({
    expect,
  }) => {
    const { app } = await started();
    for (const [name, actor] of [
      ["mo@example.com", "admin token (mo@example.com)"],
      [undefined, "admin token"],
    ] as const) {
      const headers = name === undefined ? {} : { "X-Operator": name };
      expect((await app("/admin/keys", { ...NEW_KEY, headers, key: env.ADMIN_TOKEN })).status).toBe(201);
      expect(await lastActor(app)).toBe(actor);
    }
  });

  it("is needed where Access is not configured, whatever assertion is sent", async ({ expect }) => {
    const { team, pair } = await started();
    const assertion = await sign(team.domain, pair, "k1");
    expect((await startApp()("/admin/plans", withAssertion(assertion))).status).toBe(401);
    const withToken = withAssertion("x", { key: env.ADMIN_TOKEN });
    expect((await startApp()("/admin/plans", withToken)).status).toBe(200);
  });
});
