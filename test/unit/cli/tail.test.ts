/** `tail`: what it prints of the events of `wrangler tail`, with a program in place of wrangler. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { Writable } from "node:stream";
import { describe, it } from "vitest";
import {
  follow,
  formatRequest,
  isWanted,
  type LoggedRequest,
  requestsOf,
  type TailFilter,
} from "../../../src/cli/commands/tail.ts";
import { PROJECT, temporaryFolder } from "../../support/cli.ts";

const folder = temporaryFolder();
const AT = Date.UTC(2026, 10, 20, 10, 42, 7);
const REQUEST = {
  requestId: "6f0c1f0e-0000-4000-8000-000000000001",
  method: "GET",
  route: "/v1/store/orders",
  status: 429,
  durationMs: 12,
  weight: 1,
  keyId: "key_0NGqxR8a1b2c",
  verdict: "limited",
} as const;
const LOGGED: LoggedRequest = { at: new Date(AT).toISOString(), ...REQUEST };

function eventOf(...lines: object[]) {
  const logs = lines.map((line) => ({ message: [JSON.stringify(line)], level: "log", timestamp: AT }));
  return { outcome: "ok", scriptName: "store-orders", logs, event: { request: { url: "https://x/{y" } } };
}

/** A program that writes what wrangler writes. */
function fakeWrangler(name: string, source: string): string[] {
  const file = join(folder, `${name}.mjs`);
  writeFileSync(file, source);
  return [process.execPath, file];
}

async function printedBy(command: readonly string[], filter: TailFilter, json = false): Promise<string> {
  const out: string[] = [];
  const stdout = new Writable({
    decodeStrings: false,
    write(text, _encoding, done) {
      out.push(text);
      done();
    },
  });
  const stderr = new Writable({ write: (_text, _encoding, done) => done() });
  const io = { env: {}, stdin: process.stdin, isInteractive: false, stdout, stderr, columns: 80 };
  await follow({ io, json }, command, filter);
  return out.join("");
}

describe("an event of wrangler tail", () => {
  it("has the request lines that the Worker wrote, with their time", ({ expect }) => {
    const event = eventOf({ event: "request", ...REQUEST }, { event: "ban_started", keyId: REQUEST.keyId });
    expect(requestsOf(event)).toEqual([{ event: "request", ...LOGGED }]);
    expect(requestsOf({ outcome: "ok", logs: [{ message: ["text", 1], timestamp: AT }] })).toEqual([]);
    expect(requestsOf({ outcome: "exception" })).toEqual([]);
  });

  it.for([
    [LOGGED, `10:42:07  429  GET  /v1/store/orders  key_0NGqxR8a1b2c  12 ms  limited  ${REQUEST.requestId}`],
    [
      { ...LOGGED, status: 200, verdict: "admitted", weight: 100 },
      `10:42:07  200  GET  /v1/store/orders  key_0NGqxR8a1b2c  12 ms  1 in 100  ${REQUEST.requestId}`,
    ],
    [
      { ...LOGGED, status: 200, verdict: "admitted" },
      `10:42:07  200  GET  /v1/store/orders  key_0NGqxR8a1b2c  12 ms  ${REQUEST.requestId}`,
    ],
    [
      {
        at: LOGGED.at,
        requestId: "r",
        method: "GET",
        route: "/*",
        status: 401,
        durationMs: 0,
        weight: 1,
        reason: "missing",
      },
      "10:42:07  401  GET  /*  0 ms  missing  r",
    ],
  ] as const)("is one line for each request: %#", ([request, line], { expect }) => {
    expect(formatRequest(request)).toBe(line);
  });

  it.for([
    [{}, true],
    [{ status: "429" }, true],
    [{ status: "4xx" }, true],
    [{ status: "5xx" }, false],
    [{ key: REQUEST.keyId }, true],
    [{ key: "key_000000000000" }, false],
    [{ request: REQUEST.requestId, status: "4xx" }, true],
    [{ request: "another" }, false],
  ] as const)("with the filter %j is shown: %s", ([filter, isShown], { expect }) => {
    expect(isWanted(REQUEST, filter)).toBe(isShown);
  });
});

describe("the program", () => {
  const events = [
    eventOf({ event: "request", ...REQUEST }),
    eventOf({ event: "request", ...REQUEST, status: 200, requestId: "other" }),
  ];

  it("is read to its end, over several lines or one for each object", async ({ expect }) => {
    const lines = `console.log("a notice"); console.log(${JSON.stringify(JSON.stringify(events[0], null, 2))}); console.log(${JSON.stringify(JSON.stringify(events[1]))})`;
    const command = fakeWrangler("two", lines);
    expect((await printedBy(command, {})).split("\n")).toHaveLength(3);
    const json = await printedBy(command, { status: "2xx" }, true);
    expect(JSON.parse(json)).toMatchObject({ requestId: "other", status: 200 });
  });

  it("that fails is an error", async ({ expect }) => {
    const command = fakeWrangler("fails", "process.exit(1)");
    await expect(printedBy(command, {})).rejects.toThrow("wrangler tail ended");
  });

  it("ends with this process at Ctrl-C, which is no error", async ({ expect }) => {
    const [node = "", wrangler = ""] = fakeWrangler(
      "waits",
      `process.on("SIGINT", () => { console.error("ended"); process.exit(130); });
       console.log(${JSON.stringify(JSON.stringify(events[0]))}); setInterval(() => {}, 1_000);`,
    );
    const main = join(folder, "main.mjs");
    writeFileSync(
      main,
      `import { follow } from ${JSON.stringify(join(PROJECT, "src/cli/commands/tail.ts"))};
       await follow({ io: process, json: false }, ${JSON.stringify([node, wrangler])}, {});`,
    );
    const child: ChildProcess = spawn(process.execPath, [main], { stdio: ["ignore", "pipe", "pipe"] });
    let err = "";
    child.stderr?.on("data", (text) => {
      err += text;
    });
    child.stdout?.once("data", () => child.kill("SIGINT"));
    const [code] = await once(child, "close");
    expect([code, err]).toEqual([0, "ended\n"]);
  });
});
