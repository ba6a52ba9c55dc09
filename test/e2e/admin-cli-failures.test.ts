/** Failures of the command line: other servers, broken connections, missing files, and interruption. */
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, describe, it } from "vitest";
import { ExitCode } from "../../src/cli/io.ts";
import { type Finished, runAdmin, temporaryFolder } from "../support/cli.ts";

const folder = temporaryFolder();

const servers: Server[] = [];
afterAll(() => {
  for (const server of servers) {
    server.close();
    server.closeAllConnections();
  }
});

async function serve(answer: RequestListener): Promise<string> {
  const server = createServer(answer);
  servers.push(server);
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function cli(url: string, args: string[], input = ""): Promise<Finished> {
  return runAdmin(args, { ADMIN_URL: url, ADMIN_TOKEN: "a-token-for-another-server" }, { input });
}

describe("a server that is not this service", () => {
  it("is reported with its address, also with --json", async ({ expect }) => {
    const url = await serve((_request, response) => response.end("<html>welcome</html>"));
    const err = `error: ${url} does not answer as this service does. Is it the right address?\n`;
    expect(await cli(url, ["keys", "list"])).toEqual({ code: 1, out: "", err });
    expect(await cli(url, ["keys", "list", "--json"])).toEqual({ code: 1, out: "", err });
    const load = await cli(url, ["orders", "import", "-"], '{"id":1}');
    expect([load.code, load.out]).toEqual([1, ""]);
    const advice = "Orders of the last request may be stored. Importing the whole file again is safe.";
    expect(load.err.endsWith(`${err.trim()} ${advice}\n`)).toBe(true);
  });

  it("is not followed if it redirects, because that would change the request", async ({ expect }) => {
    const requests: string[] = [];
    const url = await serve((request, response) => {
      requests.push(`${request.method} ${request.url}`);
      response.writeHead(301, { Location: "/elsewhere" }).end();
    });
    for (const args of [
      ["plans", "set", "pro", "--per-day", "1", "--yes"],
      ["orders", "import", "-"],
    ]) {
      const { code, out, err } = await cli(url, args, '{"id":1}');
      expect([code, out]).toEqual([1, ""]);
      expect(err).toMatch(/error: The service answered 301: use the address that it redirects to.\n$/);
    }
    expect(requests).toEqual([
      "PATCH /admin/plans/pro",
      expect.stringMatching(/^POST \/admin\/orders\?import=imp_[\w-]+&from=0&max-refused=1000$/),
    ]);
  });
});

/** What of a request's answer arrives: the request may have been carried out. */
const LOST: readonly (readonly [what: string, answer: RequestListener, message: RegExp])[] = [
  ["closes", (_, response) => void response.destroy(), /^The connection to \S+ broke\.$/],
  [
    "closes in the middle of its answer",
    (_, response) => {
      response.writeHead(200, { "Content-Length": 100 });
      response.write("{", () => response.destroy());
    },
    /broke\.$/,
  ],
  ["sends no HTTP", (_, { socket }) => void socket?.end("HTTP/1.1 2x\r\n\r\n"), /broke\.$/],
  [
    "sends a bad chunk",
    (_, { socket }) => void socket?.end("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n"),
    /broke\.$/,
  ],
  ["answers as a page", (_, response) => void response.end("<html>"), /does not answer as this service/],
  ["answers with less", (_, response) => void response.end("{}"), /does not understand\.$/],
  ["answers 999", (_, response) => void response.writeHead(999).end(), /answered 999, as this .+\.$/],
  ["answers 502", (_, response) => void response.writeHead(502).end("<html>"), /answered 502\.$/],
  [
    "answers 500",
    (_, response) =>
      void response.writeHead(500).end('{"code":"internal_error","message":"No.","status":500}'),
    /^No\.$/,
  ],
  ["ends the Worker", (_, response) => void response.writeHead(503).end("error code: 1102"), /1102\)\.$/],
];
const LOOK_FIRST = " A change may have been made: look before you repeat it.\n";

describe("a server whose answer is lost", () => {
  for (const [what, answer, message] of LOST) {
    it(`${what}: a change may have been made, and a read has made none`, async ({ expect }) => {
      const url = await serve(answer);
      const change = await cli(url, ["plans", "set", "pro", "--per-day", "1", "--yes"]);
      expect(change.code).toBe(1);
      expect(change.err.endsWith(LOOK_FIRST)).toBe(true);
      expect(change.err.replace("error: ", "").replace(LOOK_FIRST, "")).toMatch(message);
      for (const args of [
        ["plans", "list"],
        ["keys", "find", "--hint", "q2w3"],
      ]) {
        const { err } = await cli(url, args);
        expect(err.replace("error: ", "").trim(), args.join(" ")).toMatch(message);
      }
    });
  }

  it("or that cannot be reached at all has changed nothing", async ({ expect }) => {
    const url = await serve(() => {});
    const closed = servers.pop();
    await new Promise((done) => closed?.close(done));
    for (const address of [url, url.replace("127.0.0.1", "localhost")]) {
      const { err } = await cli(address, ["plans", "set", "pro", "--per-day", "1", "--yes"]);
      expect(err).toBe(`error: ${address} cannot be reached. Is it running (npm start)?\n`);
    }
  });
});

describe("a server that sends characters which change what a terminal shows", () => {
  it("has them escaped, also in what follows a list as CSV", async ({ expect }) => {
    const url = await serve((_request, response) =>
      response.end(JSON.stringify({ keys: [], next: "\u001b[2J\u202e" })),
    );
    const { out, err } = await cli(url, ["keys", "list", "--limit", "0", "--csv"]);
    expect([out, err]).toEqual([expect.stringMatching(/^id,name,/), "More: --after \\u001b[2J\\u202e\n"]);
  });
});

describe("a server whose answer does not end", () => {
  it("is reported after the largest answer that the service can have", async ({ expect }) => {
    const megabyte = Buffer.alloc(1024 * 1024, " ");
    const url = await serve((_, response) => {
      const send = () => {
        while (!response.destroyed && response.write(megabyte));
      };
      response.on("drain", send);
      send();
    });
    const err = `error: ${url} does not answer as this service does: it sends more than 64 MB. Is it the right address?`;
    expect((await cli(url, ["keys", "list"])).err).toBe(`${err}\n`);
    expect((await cli(url, ["keys", "revoke", "key_1", "--yes"])).err).toBe(`${err}${LOOK_FIRST}`);
  });
});

describe("a server that does not answer", () => {
  it("is reported after the timeout, for each kind of request", async ({ expect }) => {
    const url = await serve(() => undefined);
    await Promise.all(
      [
        { args: ["keys", "list"], advice: "" },
        { args: ["keys", "revoke", "key_1", "--yes"], advice: LOOK_FIRST.trimEnd() },
        {
          args: ["orders", "import", "-"],
          advice: " Orders of the last request may be stored. Importing the whole file again is safe.",
        },
      ].map(async ({ args, advice }) => {
        const { code, out, err } = await cli(url, ["--timeout", "1s", ...args], '{"id":1}');
        expect([code, out]).toEqual([1, ""]);
        expect(err).toContain(`error: ${url} did not answer within 1 seconds (--timeout).${advice}\n`);
      }),
    );
  });

  it("is reported also if it stops in the middle of its answer", async ({ expect }) => {
    const url = await serve((_request, response) => void response.writeHead(200).write("{"));
    expect((await cli(url, ["--timeout", "1s", "keys", "list"])).err).toContain(
      "did not answer within 1 seconds",
    );
  });
});

describe("a server that answers 503 or 408 in the middle of an import", () => {
  const lines = Array.from({ length: 5_001 }, (_, i) => `{"id":${i + 1}}`);
  const imported = (inserted: number) =>
    JSON.stringify({
      import: "imp_1",
      inserted,
      updated: 0,
      unchanged: 0,
      cancelled: 0,
      reinserted: 0,
      backwards: 0,
      refusedCount: 0,
      stopped: false,
      refused: [],
    });

  /** Answers with these statuses to the requests, counted from 1, and stores the others. */
  async function importWith(statusOf: (request: number) => 503 | 409 | 408 | 401 | 200) {
    const bodies: string[] = [];
    const queries: URLSearchParams[] = [];
    let inserted = 0;
    const url = await serve(async (request, response) => {
      queries.push(new URL(request.url ?? "", "http://service").searchParams);
      let body = "";
      for await (const chunk of request) body += chunk;
      bodies.push(body);
      const status = statusOf(bodies.length);
      if (status !== 200) {
        response
          .writeHead(status, { "Retry-After": "0" })
          .end('{"message":"Away. Sent again as the import imp_1, it goes on."}');
      } else {
        inserted += body.split("\n").length;
        response.end(imported(inserted));
      }
    });
    return { bodies, queries, result: await cli(url, ["orders", "import", "-"], lines.join("\n")) };
  }

  it("gets the same orders again after Retry-After, and then the others", async ({ expect }) => {
    const { bodies, queries, result } = await importWith((request) =>
      request === 2 ? 503 : request === 3 ? 408 : 200,
    );
    expect(result).toMatchObject({ code: 0, out: expect.stringMatching(/^inserted +5001$/m) });
    expect(queries.map((query) => query.get("from"))).toEqual(["0", "5000", "5000", "5000"]);
    expect(new Set(queries.map((query) => query.get("import"))).size).toBe(1);
    expect(bodies).toEqual([lines.slice(0, 5_000).join("\n"), lines[5_000], lines[5_000], lines[5_000]]);
  });

  it("gets them again also if it is still storing the first try, but takes another 409 for final", async ({
    expect,
  }) => {
    const again = await importWith((request) => (request === 1 ? 503 : request === 2 ? 409 : 200));
    expect(again.result).toMatchObject({ code: 0, out: expect.stringMatching(/^inserted +5001$/m) });
    expect(again.queries.map((query) => query.get("from"))).toEqual(["0", "0", "0", "5000"]);
    const final = await importWith(() => 409);
    expect([final.bodies.length, final.result.code]).toEqual([1, 1]);
  });

  it("may have stored what it got before it refused the next attempt", async ({ expect }) => {
    const { result } = await importWith((request) => (request === 1 ? 503 : 401));
    expect(result.err).toContain(
      "Orders of the last request may be stored. Importing the whole file again is safe.",
    );
    const refused = await importWith(() => 401);
    expect(refused.result.err).not.toContain("stored");
    const url = await serve((_request, response) => void response.writeHead(502).end());
    const { err } = await cli(url, ["orders", "import", "-", "--restore-cancelled"], '{"id":1}');
    expect(err).toMatch(/Importing the whole file again restores also what clients cancel until then\.\n$/);
  });

  it("or another error may have stored what it got, also if its text breaks off", async ({ expect }) => {
    const url = await serve((_request, response) => {
      response.writeHead(502, { "Content-Length": 100 }).write("{", () => response.destroy());
    });
    const { code, err } = await cli(url, ["orders", "import", "-"], lines.join("\n"));
    const message = `error: The connection to ${url} broke. Orders of the last request may be stored.`;
    expect([code, err]).toEqual([1, expect.stringContaining(message)]);
  });

  it("gets fewer orders at once while Cloudflare ends the requests for their CPU time", async ({
    expect,
  }) => {
    const sizes: number[] = [];
    const froms: string[] = [];
    const url = await serve(async (request, response) => {
      let body = "";
      for await (const chunk of request) body += chunk;
      const size = body.split("\n").length;
      sizes.push(size);
      if (size > 700) return void response.writeHead(503).end("error code: 1102");
      const from = new URL(request.url ?? "", "http://service").searchParams.get("from") ?? "";
      froms.push(from);
      response.end(imported(Number(from) + size));
    });
    const { code, out } = await cli(url, ["orders", "import", "-"], lines.join("\n"));
    expect([code, out]).toEqual([0, expect.stringMatching(/^inserted +5001$/m)]);
    expect(sizes).toEqual([
      5_000, 2_500, 1_250, 625, 625, 1_250, 625, 625, 2_500, 1_250, 625, 625, 1_250, 625, 625, 1,
    ]);
    expect(froms).toEqual([0, 625, 1_250, 1_875, 2_500, 3_125, 3_750, 4_375, 5_000].map(String));
  });

  it("says so if Cloudflare ends even a small request for its CPU time", async ({ expect }) => {
    const url = await serve((_request, response) => void response.writeHead(503).end("error code: 1102"));
    const { code, err } = await cli(url, ["orders", "import", "-"], '{"id":1}');
    expect([code, err]).toEqual([
      1,
      expect.stringContaining("it needs more CPU time or memory than the Worker has"),
    ]);
  });

  it("is given up after 6 attempts, and the error says what was stored", async ({ expect }) => {
    for (const status of [503, 408] as const) {
      const { bodies, result } = await importWith((request) => (request > 1 ? status : 200));
      expect([bodies.length, result.code, result.out]).toEqual([7, 1, ""]);
      expect(result.err).toMatch(
        /\nerror: Away\. 5000 orders were stored before\. Orders of the last request may be stored\. Importing the whole file again is safe\.\n$/,
      );
    }
  });
});

describe("the command line", () => {
  it("reports in one line that a file to import does not exist", async ({ expect }) => {
    const missing = join(folder, "missing");
    const { code, out, err } = await cli("http://127.0.0.1:1", ["orders", "import", missing]);
    expect([code, out]).toEqual([1, ""]);
    expect(err).toMatch(/^error: The file cannot be read: ENOENT: no such file or directory\.\n$/);
  });

  it("ends an interrupted import with exit code 130, after its progress so far", async ({ expect }) => {
    const interruption = new AbortController();
    const url = await serve(() => interruption.abort(new ExitCode(130)));
    const env = { ADMIN_TOKEN: "a-token" };
    const { code, out, err } = await runAdmin(["--url", url, "orders", "import", "-"], env, {
      input: '{"id":1}',
      interruption: interruption.signal,
    });
    expect([code, out]).toEqual([130, ""]);
    expect(err.match(/0 loaded, 0 refused/g)).toHaveLength(2);
    expect(err).not.toContain("error");
  });

  it("ends a long table that is interrupted while it is drawn with exit code 130, and prints none of it", async ({
    expect,
  }) => {
    const interruption = new AbortController();
    const order = { status: "pending", petId: 1, quantity: 1, shipDate: null, complete: null };
    const orders = Array.from({ length: 40_000 }, (_, id) => ({ id, ...order }));
    const url = await serve((_request, response) =>
      response.end(JSON.stringify({ orders, next: null }), () =>
        // Drawing takes seconds.
        setTimeout(() => interruption.abort(new ExitCode(130)), 100),
      ),
    );
    const args = ["--url", url, "orders", "list", "--limit", "40000"];
    const options = { interruption: interruption.signal };
    expect(await runAdmin(args, { ADMIN_TOKEN: "a-token" }, options)).toEqual({
      code: 130,
      out: "",
      err: "",
    });
  });

  it("treats an empty ADMIN_URL as unset", async ({ expect }) => {
    expect((await cli("", ["keys", "list"])).err).not.toContain("not an http");
  });
});
