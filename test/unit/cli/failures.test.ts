/** What the command says when the service refuses or does not answer, and which credentials it sends. */
import { describe, it } from "vitest";
import { connectionError, refusal, run, runLine, sent, TOKEN, useFakeService } from "./fake-service.ts";

useFakeService();

const MAY_BE_MADE = "The change may have been made: look, then try again.";

const html = (status: number) => new Response("<h1>Bad gateway</h1>", { status });
const login = new Response(null, {
  status: 302,
  headers: { Location: "https://acme.cloudflareaccess.com/cdn-cgi/access/login/orders.example.com" },
});

/** The answer, the error's text, and whether a change may have been made. */
const FAILURES: readonly [string, () => Response | Error, string, boolean][] = [
  ["a refusal", () => refusal(409, "conflict", "The key is revoked."), "The key is revoked.", false],
  ["a 503 of the service", () => refusal(503, "service_unavailable", "Not known."), "Not known.", false],
  ["a 500 of the service", () => refusal(500, "internal_error", "Went wrong."), "Went wrong.", true],
  [
    "a wrong token",
    () => refusal(401, "unauthorized", "Invalid admin token."),
    "ADMIN_TOKEN must be the Worker's",
    false,
  ],
  [
    "a Worker without a token",
    () => refusal(404, "not_found", "The requested resource could not be found."),
    "The admin API is not available",
    false,
  ],
  ["a proxy's 403", () => html(403), "The service answered 403.", false],
  ["a proxy's 502", () => html(502), "The service answered 502.", true],
  ["another site", () => html(200), "does not answer as this service does", true],
  [
    "the login page of Cloudflare Access",
    () => login.clone(),
    "Set CF_ACCESS_CLIENT_ID".toLowerCase(),
    false,
  ],
  [
    "another redirect",
    () => new Response(null, { status: 301 }),
    "use the address that it redirects to",
    false,
  ],
  ["a service that is not there", () => connectionError("ECONNREFUSED"), "cannot be reached", false],
  [
    "a certificate that is not trusted",
    () => connectionError("SELF_SIGNED_CERT_IN_CHAIN"),
    "is not trusted (SELF_SIGNED_CERT_IN_CHAIN)",
    false,
  ],
  [
    "a certificate of another host",
    () => connectionError("ERR_TLS_CERT_ALTNAME_INVALID"),
    "not trusted",
    false,
  ],
  ["a connection that breaks", () => connectionError("UND_ERR_SOCKET"), "broke", true],
  ["silence", () => new DOMException("", "TimeoutError"), "did not answer within 60 seconds", true],
];

describe("a command that meets", () => {
  it.for(FAILURES)("%s says so in one line", async ([, answer, text, mayBeMade], { expect }) => {
    const changing = await runLine("keys disable key_0NGqxR8a1b2c", answer());
    expect(changing).toMatchObject({ code: 1, out: "" });
    expect(changing.err).toMatch(/^error: .*\n$/);
    expect(changing.err.toLowerCase()).toContain(text.toLowerCase());
    expect(changing.err.includes(MAY_BE_MADE)).toBe(mayBeMade);
    for (const line of ["plans list", "orders list"]) {
      const reading = await runLine(line, answer());
      expect(reading).toMatchObject({ code: 1, out: "" });
      expect(reading.err).not.toContain(MAY_BE_MADE);
    }
  });
});

describe("the credentials", () => {
  const list = (env: Record<string, string>, ...args: string[]) =>
    run(["plans", "list", ...args], [{ plans: [] }], { env });

  it("are the admin token, or those of Cloudflare Access, or both", async ({ expect }) => {
    await list({});
    await list({ ADMIN_TOKEN: "", CF_ACCESS_CLIENT_ID: "0123.access", CF_ACCESS_CLIENT_SECRET: "s3cret" });
    await list({ CF_ACCESS_TOKEN: "jwt" });
    const names = ["Authorization", "CF-Access-Client-Id", "CF-Access-Client-Secret", "CF-Access-Token"];
    expect(sent.map(({ headers }) => names.map((name) => headers.get(name)))).toEqual([
      [`Bearer ${TOKEN}`, null, null, null],
      [null, "0123.access", "s3cret", null],
      [`Bearer ${TOKEN}`, null, null, "jwt"],
    ]);
  });

  it.for([
    [{ ADMIN_TOKEN: "" }, "There is no admin token for https://orders.example.com: set ADMIN_TOKEN."],
    [{ ADMIN_TOKEN: "a b" }, "ADMIN_TOKEN has characters that a token cannot have."],
    [
      { CF_ACCESS_CLIENT_ID: "id" },
      "Set both CF_ACCESS_CLIENT_ID and CF_ACCESS_CLIENT_SECRET, or none of them.",
    ],
    [
      { ADMIN_URL: "http://orders.example.com" },
      "http://orders.example.com would receive the admin token unencrypted: use https.",
    ],
    [
      { ADMIN_URL: "orders:s3cret@x" },
      "The address, from --url or ADMIN_URL, is not an http or https address.",
    ],
  ] as const)("%j are refused, and nothing is sent: %s", async ([env, message], { expect }) => {
    expect(await list(env)).toEqual({ code: 1, out: "", err: `error: ${message}\n` });
    expect(sent).toEqual([]);
  });

  it("go to the address of --url before that of ADMIN_URL, and only to its origin", async ({ expect }) => {
    const { err } = await run(
      ["plans", "list", "--url", "https://u:s3cret@other.example.com/x"],
      [connectionError("ECONNREFUSED")],
    );
    expect(err).toBe("error: https://other.example.com cannot be reached.\n");
  });
});

describe("a server that is not this service", () => {
  const [ESCAPE, CONTROL, BIDI] = ["\x1b[2J", "\u009b31m", "\u202e"];
  const hostile = { id: ESCAPE, name: CONTROL, plan: BIDI, status: ESCAPE, limits: {}, secrets: [] };
  const NO_OBJECTS = ["", `${ESCAPE}${CONTROL}`, '{"keys":[', "null", "7", '"text"', "[]"];
  const OBJECTS = [
    ...[
      "{}",
      '{"keys":null,"next":5}',
      `{"${BIDI}":\r\t"${CONTROL}"}`,
      JSON.stringify({ ...hostile, keys: [null] }),
    ],
    JSON.stringify({ keys: [hostile], orders: [hostile], plans: "x", next: ESCAPE, problems: 7 }),
  ];
  const READS = ["keys list", "keys show key_000000000000", "usage", "plans list", "orders list"];
  const CHANGES = [
    "bans lift key_000000000000",
    "alerts test",
    "orders ship 5",
    "keys create --name n --plan free",
  ];

  it.for([...READS, ...CHANGES, "keys list --json", "alerts test --json"])(
    "ends a command with an error, and escapes what it prints: %s",
    async (line, { expect }) => {
      for (const body of [...NO_OBJECTS, ...OBJECTS]) {
        for (const status of body === "" || OBJECTS.includes(body) ? [200, 400] : [200]) {
          const headers = { "Content-Type": "application/json" };
          const answers = Array.from({ length: 3 }, () => new Response(body, { status, headers }));
          const { code, out, err } = await run(line.split(" "), answers);
          const isList =
            READS.some((read) => line.startsWith(read)) && OBJECTS.includes(body) && status === 200;
          expect(isList ? [0, 1] : [1], `${status} ${body}`).toContain(code);
          expect((out + err).replaceAll("\n", "")).not.toMatch(/[\p{Cc}\p{Bidi_Control}]/u);
          expect(err).not.toMatch(/^ +at /m);
        }
      }
    },
  );
});
