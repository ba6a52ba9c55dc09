/** The admin API reads a bounded JSON body, and answers a wrong one in bounded text. */
import { env } from "cloudflare:workers";
import { describe, it, vi } from "vitest";
import { MAX_JSON_BODY_BYTES } from "../../../src/worker/admin/http/request-validation.ts";
import { createKey } from "../../support/factories.ts";
import { setClock, startApp } from "../../support/worker.ts";

const app = startApp();

async function post(body: BodyInit): Promise<{ status: number; code: string; message: string }> {
  const response = await app("/admin/keys", { method: "POST", key: env.ADMIN_TOKEN, body });
  const { code, message } = await response.json<{ code: string; message: string }>();
  return { status: response.status, code, message };
}

const jsonOf = (bytes: number) => `{"name":"${"x".repeat(bytes - 11)}"}`;

describe("a JSON body", () => {
  it("above the maximum size is a 413, whether its length is announced or not", async ({ expect }) => {
    const tooLarge = {
      status: 413,
      code: "content_too_large",
      message: "The body must have at most 65536 bytes.",
    };
    expect(await post(jsonOf(MAX_JSON_BODY_BYTES + 1))).toEqual(tooLarge);
    expect(await post(new Blob([jsonOf(MAX_JSON_BODY_BYTES + 1)]).stream())).toEqual(tooLarge);
  });

  it("that never ends is a 413 before it ends", async ({ expect }) => {
    let chunks = 0;
    const endless = new ReadableStream<Uint8Array>({
      pull(controller) {
        chunks++;
        controller.enqueue(new Uint8Array(8_192).fill(32));
      },
    });
    expect(await post(endless)).toMatchObject({ status: 413 });
    expect(chunks).toBeLessThan(20);
  });

  it("that is not UTF-8 is a 400, as its text would be stored with other characters", async ({ expect }) => {
    const bodies = ["Z\xeb", "Z\xc3", "\xc0\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80"].map(
      (name) => `{"name":"${name}"}`,
    );
    for (const text of [...bodies, "\xff\xfe{\0}\0"])
      expect(await post(Uint8Array.from(text, (char) => char.charCodeAt(0)))).toMatchObject({
        status: 400,
        message: "The body is not valid UTF-8.",
      });
    expect(await post('\ufeff{"name":"a","plan":"no"}')).toMatchObject({
      message: expect.stringMatching(/^plan: /),
    });
  });
});

describe("a change that says too little", () => {
  it.for([
    ["POST", "/keys", '{"name":', "The body is not valid JSON."],
    ["POST", "/keys", '"acme"', "The body is not a JSON object."],
    ["PATCH", "/keys/ID", "{}", "This changes nothing."],
    ["POST", "/keys/ID/temporary-limits", '{"days":1}', "requestsPerMinute: at least one limit is required"],
    ["PUT", "/orders", undefined, "The body is not a JSON array of orders."],
  ] as const)("is a 400: %s %s %s", async ([method, path, body, message], { expect }) => {
    const { id } = await createKey();
    const answer = await app(`/admin${path.replace("ID", id)}`, {
      method,
      key: env.ADMIN_TOKEN,
      body: body ?? null,
    });
    const refused = await answer.json<{ message: string; problems?: { member: string; reason: string }[] }>();
    const { problems, ...error } = refused;
    const expected = { code: "invalid_request", status: 400, message: expect.stringMatching(`^${message}`) };
    expect([answer.status, error]).toEqual([400, expected]);
    // The message has the same problems, for people.
    expect(problems?.map(({ member, reason }) => `${member}: ${reason}`).join("; ")).toBe(
      message.includes(": ") ? refused.message : undefined,
    );
  });
});

describe("a body that arrives late", () => {
  const T0 = Date.UTC(2037, 0, 1, 12);
  const AT = "2037-01-01T12:30:00Z";
  /** Moves the clock by half an hour before the body arrives. */
  const lateBody = (text: string) =>
    new ReadableStream<Uint8Array>({
      pull(controller) {
        vi.setSystemTime(T0 + 1_800_000);
        controller.enqueue(new TextEncoder().encode(text));
        controller.close();
      },
    });
  const send = async (method: string, path: string, body: ReadableStream<Uint8Array>) => {
    const response = await app(path, { method, key: env.ADMIN_TOKEN, body });
    return response.json<Record<string, unknown>>();
  };
  const auditOf = async (object: string) =>
    (await app(`/admin/audit?object=${object}`, { key: env.ADMIN_TOKEN })).json();

  it("begins its change, a ban or a grace period, when it has arrived", async ({ expect }) => {
    const { id } = await createKey();
    setClock(T0);
    const ban = await send("PUT", `/admin/keys/${id}/ban`, lateBody('{"seconds":60,"reason":"late"}'));
    expect(ban).toMatchObject({ ban: { startedAt: AT, endsAt: "2037-01-01T12:31:00Z", live: true } });
    expect(await auditOf(id)).toMatchObject({ audit: [{ at: AT, call: "bans.set" }] });
  });
});

describe("a query", () => {
  it("that is not UTF-8 is a 400, and one with an accent or a percent sign is read", async ({ expect }) => {
    for (const [search, status] of [
      ["Z%EB", 400],
      ["%C3%28", 400],
      ["Z%c3%ab", 200],
      ["100%25", 200],
      ["100%", 200],
    ] as const) {
      const response = await app(`/admin/keys?search=${search}`, { key: env.ADMIN_TOKEN });
      expect(response.status, search).toBe(status);
    }
  });

  it("of a call that reads none, as for a dry run, is a 400, and changes nothing", async ({ expect }) => {
    const { id } = await createKey();
    const calls: [string, string, object?][] = [
      ["PATCH", `/admin/keys/${id}?dry-run`, { disabled: true }],
      ["PUT", `/admin/keys/${id}/ban?dry-run`, { seconds: 60, reason: "test" }],
      ["DELETE", `/admin/keys/${id}/ban?dry-run`],
      ["POST", `/admin/keys/${id}/rotate?graceSeconds=600`],
      ["DELETE", `/admin/keys/${id}?dry-run`],
      ["GET", "/admin/sessions?operator=ada"],
    ];
    for (const [method, path, body] of calls) {
      const init = { method, key: env.ADMIN_TOKEN, body: JSON.stringify(body) };
      const response = await app(path, init);
      expect([response.status, await response.json()], path).toMatchObject([
        400,
        { message: "This call has no query parameters, and no dry run." },
      ]);
    }
    const key = await app(`/admin/keys/${id}`, { key: env.ADMIN_TOKEN });
    expect(await key.json()).toMatchObject({ status: "active", secrets: [{ expiresAt: null }] });
  });
});
