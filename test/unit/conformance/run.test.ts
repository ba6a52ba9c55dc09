/** `npm run conformance` as a process, over sockets. */
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, it } from "vitest";
import { PlantedLimiter } from "../../conformance/planted.ts";

const folder = mkdtempSync(join(tmpdir(), "conformance-"));
const servers: Server[] = [];
afterAll(() => {
  for (const server of servers) server.close();
  rmSync(folder, { recursive: true });
});

async function serve(fault?: string): Promise<string> {
  const limiter = new PlantedLimiter(fault);
  const server = createServer(async ({ method = "", url = "", headers }, response) => {
    const answer = await limiter.send(method, url.slice("/api".length), {
      "X-Key": String(headers["x-key"] ?? ""),
    });
    response.writeHead(answer.status, Object.fromEntries(answer.headers)).end(answer.body);
  });
  servers.push(server);
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const address = server.address();
  return `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}/api`;
}

/** `keys` is a command, whose second word is the id. */
function settingsFile(name: string, settings: object = {}): string {
  const usual = { ok: "GET /ok", header: "X-Key: {key}", limit: { count: 10, seconds: 2 } };
  writeFileSync(join(folder, name), JSON.stringify({ ...usual, ...settings }));
  return join(folder, name);
}

function run(...args: string[]): Promise<{ code: number; output: string }> {
  const program = join(import.meta.dirname, "../../conformance/run.ts");
  return new Promise((done) =>
    execFile(process.execPath, [program, ...args], (error, stdout, stderr) =>
      done({
        code: error === null ? 0 : Number(error.code),
        output: error === null ? stdout : stdout + stderr,
      }),
    ),
  );
}

it("0: no row failed, and --json has each row", async ({ expect }) => {
  const settings = settingsFile("right", {
    keys: 'for i in $(seq "$COUNT"); do echo "key-$$-$i id-$i"; done',
  });
  const { code, output } = await run(
    await serve(),
    "--settings",
    settings,
    "--only",
    "429,restart",
    "--json",
  );
  const rows = [
    { id: "429", verdict: "pass" },
    { id: "restart", verdict: "not asked" },
  ];
  expect([code, JSON.parse(output)]).toMatchObject([0, { rows }]);
});

it("1: a row failed, and the table has its sentence", async ({ expect }) => {
  const { code, output } = await run(await serve("429"), "--settings", settingsFile("red"), "--only", "429");
  expect(code).toBe(1);
  expect(output).toMatch(/^FAIL +429 +403\n.*RFC 6585/m);
});

it("2: wrong settings, which are named, and nobody who answers", async ({ expect }) => {
  const url = await serve();
  const wrong = [
    [url, settingsFile("limit", { limit: { count: 10, seconds: 86_400 } }), /limit\.seconds/],
    [url, settingsFile("path", { ok: "GET /none" }), /404/],
    [url, settingsFile("keys", { keys: "exit 3" }), /exit 3/],
    ["http://127.0.0.1:9", settingsFile("away"), /fetch failed/],
  ] as const;
  const results = await Promise.all(wrong.map(([target, file]) => run(target, "--settings", file)));
  for (const [i, { code, output }] of results.entries()) {
    expect(code).toBe(2);
    expect(output).toMatch(wrong[i]?.[2] ?? "");
  }
});
