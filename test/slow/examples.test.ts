/** The example programs of the documentation page, against the running service. docs-page-reading.test.ts runs them as the page shows them. */
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, describe, it } from "vitest";
import { type Finished, runProcess } from "../support/cli.ts";
import { type ProgramKind, requirePrograms, runExampleProgram } from "../support/programs.ts";
import { openService, type Service } from "../support/service.ts";
import { readText } from "../support/sources.ts";

const LOCAL_BASE_URL = "http://localhost:8787/v1";
const KINDS = ["sh", "mjs", "py"] as const satisfies readonly ProgramKind[];

let service: Service;
let baseUrl: string;

beforeAll(async () => {
  requirePrograms();
  service = await openService();
  baseUrl = new URL("/v1", service.url).href;
  await service.db.exec(
    "insert into orders (id, pet_id, quantity, status) values (1, 7, 2, 'pending'), (2, 7, 1, 'shipped'), (3, 7, 1, 'pending'), (4, 7, 1, 'pending'), (9223372036854775807, 7, 1, 'pending')",
  );
});

type Options = { args?: readonly string[]; prelude?: string; at?: string };

function runExample(name: string, kind: ProgramKind, key: string, options: Options = {}): Promise<Finished> {
  return runExampleProgram(kind, exampleText(name, kind, options.at ?? baseUrl), { key, ...options });
}

function exampleText(name: string, kind: ProgramKind, at: string): string {
  const text = readText(`src/pages/docs/examples/${name}.${kind}`);
  if (!text.includes(LOCAL_BASE_URL)) throw new Error(`${name}.${kind} does not have ${LOCAL_BASE_URL}`);
  return text.replaceAll(LOCAL_BASE_URL, at);
}

async function withServer<T>(listener: RequestListener, use: (url: string) => Promise<T>): Promise<T> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo; // it listens on a port
  try {
    return await use(`http://127.0.0.1:${port}`);
  } finally {
    server.close();
    server.closeAllConnections();
  }
}

describe.for(KINDS)("the first request (%s)", (kind) => {
  it("takes a key with a line end, as a file can leave it", async ({ expect }) => {
    const { key } = await service.createKey();
    expect(await runExample("list", kind, `${key}\r`)).toMatchObject({ code: 0 });
  });

  it("lists the orders with all digits of their ids, and shows the remaining requests", async ({
    expect,
  }) => {
    const { key } = await service.createKey();
    const { code, out } = await runExample("list", kind, key);
    expect(code).toBe(0);
    expect(out).toContain('{"id":2,"petId":7,"quantity":1}');
    expect(out).toContain('"id":9223372036854775807');
    expect(out).toMatch(/^(?:x-ratelimit-remaining: 999\r?|999 requests remain)$/im);
  });
});

describe.for(KINDS)("a KEY that is no key (%s)", (kind) => {
  it.for(["list", "orders"] as const)("is not shown by %s, which fails at once", async (name, { expect }) => {
    for (const key of ["", "sok_SECRET…", "sok_SEC\nRET"]) {
      const { code, out, err } = await runExample(name, kind, key);
      if (kind !== "sh") expect([code, out], JSON.stringify(key)).toEqual([1, ""]);
      expect(out + err).not.toMatch(/SEC|next try|retry/);
    }
  });
});

describe.for(KINDS)("the program that waits (%s)", (kind) => {
  it("lists the orders, cancels the order that is named, and fails with the error's body", async ({
    expect,
  }) => {
    const { key } = await service.createKey();
    const orderId = { sh: "1", mjs: "3", py: "4" }[kind];
    const listed = await runExample("orders", kind, key);
    expect(listed).toMatchObject({ code: 0, err: "999 requests remain.\n" });
    expect(JSON.parse(listed.out)).toHaveLength(5 - KINDS.indexOf(kind));
    expect(listed.out).toContain('"id":9223372036854775807');
    const cancelled = await runExample("orders", kind, key, { args: [orderId] });
    expect(cancelled).toEqual({
      code: 0,
      out: `Order ${orderId} is cancelled.\n`,
      err: "998 requests remain.\n",
    });
    const refused = await runExample("orders", kind, key, { args: ["2"] });
    expect(refused.code).not.toBe(0);
    expect(refused.out + refused.err).toContain('"code":"order_already_shipped"');
    expect(refused.out).not.toContain("is cancelled");
  });

  it("takes a key with a line end, as a file can leave it", async ({ expect }) => {
    const { key } = await service.createKey();
    for (const end of ["\n", "\r"]) {
      const { code, err } = await runExample("orders", kind, key + end);
      expect([code, err], JSON.stringify(end)).toEqual([
        0,
        expect.stringMatching(/^\d+ requests remain\.\n$/),
      ]);
    }
  });

  it("does not wait until the end of the day, but fails", async ({ expect }) => {
    const { key } = await service.createKey({ perDay: 1 });
    expect(await runExample("orders", kind, key)).toMatchObject({ code: 0 });
    const { code, out, err } = await runExample("orders", kind, key);
    expect(code).not.toBe(0);
    expect(out + err).toContain('"code":"rate_limit_exceeded"');
  });
});

describe("the programs that wait", () => {
  it("wait as long as Retry-After says, and are then admitted", async ({ expect }) => {
    const waitOnce = async (kind: ProgramKind) => {
      const { id, key } = await service.createKey();
      await service.admin("PUT", `/keys/${id}/ban`, { seconds: 2, reason: "a test of waiting" });
      const startedAt = Date.now();
      const { code, err } = await runExample("orders", kind, key);
      expect(code, kind).toBe(0);
      expect(err, kind).toMatch(/^999 requests remain\.$/m);
      expect(Date.now() - startedAt, kind).toBeGreaterThan(1_000);
    };
    await Promise.all(KINDS.map(waitOnce));
  });

  it("take a 404 after a 503 for what it says: the order is not in the list, and may be cancelled", async ({
    expect,
  }) => {
    const cancelOnce = (kind: ProgramKind) => {
      let requests = 0;
      const listener: RequestListener = (_, response) => {
        const isFirst = requests++ === 0;
        response.writeHead(isFirst ? 503 : 404, { "Retry-After": "1", "X-RateLimit-Remaining": "59" });
        response.end(isFirst ? "not known" : "not found");
      };
      return withServer(listener, async (at) => {
        const { code, out, err } = await runExample("orders", kind, "sok_test", { at, args: ["5"] });
        expect(err, kind).toMatch(/^59 requests remain\.$/m);
        expect({ kind, code, requests, out }).toEqual({
          kind,
          code: 0,
          requests: 2,
          out: "Order 5 is not in the list. An earlier try may have cancelled it.\n",
        });
      });
    };
    await Promise.all(KINDS.map(cancelOnce));
  });

  it("take a 404 for a failure if no try before it may have cancelled the order", async ({ expect }) => {
    const refuseTwice = (kind: ProgramKind) => {
      let requests = 0;
      const listener: RequestListener = (_, response) =>
        response.writeHead(requests++ === 0 ? 429 : 404, { "Retry-After": "1" }).end("not found");
      return withServer(listener, async (at) => {
        const { code, out, err } = await runExample("orders", kind, "sok_test", { at, args: ["5"] });
        expect({ kind, code, requests, out }).toEqual({ kind, code: 1, requests: 2, out: "" });
        expect(err, kind).toMatch(/^404 not found$/m);
      });
    };
    await Promise.all(KINDS.map(refuseTwice));
  });

  it("print only the last answer after a retry", async ({ expect }) => {
    const retryOnce = (kind: ProgramKind) => {
      let requests = 0;
      const listener: RequestListener = (_, response) => {
        const isFirst = requests++ === 0;
        response.writeHead(isFirst ? 429 : 200, {
          "Retry-After": "1",
          "X-RateLimit-Remaining": isFirst ? "0" : "59",
        });
        response.end(isFirst ? '{"code":"rate_limit_exceeded"}' : "[]");
      };
      return withServer(listener, async (at) => {
        const { code, out, err } = await runExample("orders", kind, "sok_test", { at });
        // A silent wait looks like a program that hangs.
        expect(err, kind).toMatch(/429: next try in 1 s|Will retry in 1 seconds/);
        expect(err, kind).toMatch(/^59 requests remain\.$/m);
        expect({ kind, code, requests, out }).toEqual({ kind, code: 0, requests: 2, out: "[]\n" });
      });
    };
    await Promise.all(KINDS.map(retryOnce));
  });
});

describe.for(KINDS)("a redirect to another host (%s)", (kind) => {
  it.for(["list", "orders"] as const)("does not get the key, with %s", async (name, { expect }) => {
    const keys: (string | undefined)[] = [];
    const elsewhere: RequestListener = ({ headers }, response) => {
      keys.push(headers.authorization);
      response.end("[]");
    };
    await withServer(elsewhere, (target) =>
      withServer(
        (_, response) => response.writeHead(302, { Location: target }).end(),
        (at) => runExample(name, kind, "sok_test", { at }),
      ),
    );
    expect(keys.filter((key) => key !== undefined)).toEqual([]);
  });
});

describe.for(KINDS)("the program that waits (%s)", (kind) => {
  it("says of no redirected DELETE that the order is cancelled", async ({ expect }) => {
    const listener: RequestListener = ({ url }, response) =>
      url === "/login"
        ? response.writeHead(200).end("a page to sign in")
        : response.writeHead(301, { Location: "/login" }).end("moved");
    await withServer(listener, async (at) => {
      const { code, out, err } = await runExample("orders", kind, "sok_test", { at, args: ["5"] });
      expect([code, out]).toEqual([1, ""]);
      expect(err).toMatch(/^(301 moved|200 a page to sign in)\n$/);
    });
  });
});

describe("the program that waits (sh)", () => {
  it("fails if the list is redirected, and sends nothing for an id that curl would read as another URL", async ({
    expect,
  }) => {
    const urls: (string | undefined)[] = [];
    const listener: RequestListener = ({ url }, response) => {
      urls.push(url);
      response.writeHead(302).end();
    };
    await withServer(listener, async (at) => {
      const run = (...args: string[]) => runExample("orders", "sh", "sok_test", { at, args });
      expect(await run()).toEqual({ code: 1, out: "", err: "302 \n" });
      for (const id of ["{2,1}", "7?x", "7#y", "../orders/7", " 7"]) {
        expect(await run(id)).toEqual({ code: 1, out: "", err: `${id} is no order id.\n` });
      }
    });
    expect(urls).toHaveLength(1);
  });

  it("leaves no file if its reader ends first", async ({ expect }) => {
    const { key } = await service.createKey();
    const folder = mkdtempSync(join(tmpdir(), "store-orders-example-"));
    const program = join(folder, "orders.sh");
    writeFileSync(program, exampleText("orders", "sh", baseUrl));
    const temporary = join(folder, "tmp");
    mkdirSync(temporary);
    try {
      for (const reader of ["head -n 1", "head -c 1", "true"]) {
        await runProcess("sh", ["-c", `sh "$0" | ${reader}`, program], { KEY: key, TMPDIR: temporary });
        expect(readdirSync(temporary), reader).toEqual([]);
      }
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

/** Each writes the seconds of a wait to standard output, instead of waiting. */
const NO_WAITS = {
  // fetch has timers of its own.
  mjs: `const wait = setTimeout;
    globalThis.setTimeout = (done, ms, ...values) => {
      if (!new Error().stack.includes("program.mjs")) return wait(done, ms, ...values);
      console.log("wait", ms / 1000);
      return wait(done, 0);
    };`,
  py: "import time; time.sleep = lambda seconds: print('wait', seconds)",
};

describe.for(["mjs", "py"] as const)("the program that waits (%s)", (kind) => {
  it("tries again after a lost connection, also in the middle of a body, and tells of a cancel whose answer was lost", async ({
    expect,
  }) => {
    let requests = 0;
    const listener: RequestListener = ({ method, socket }, response) => {
      requests++;
      if (requests === 1) socket.destroy();
      else if (requests === 2)
        response.writeHead(200, { "Content-Length": 9 }).write("[", () => socket.destroy());
      else response.writeHead(method === "GET" ? 200 : 404, { "X-RateLimit-Remaining": "59" }).end("[]");
    };
    await withServer(listener, async (at) => {
      const run = (...args: string[]) =>
        runExample("orders", kind, "sok_any", { at, args, prelude: NO_WAITS[kind] });
      const listed = await run();
      expect(listed.code).toBe(0);
      expect(listed.out).toMatch(/^wait .*\nwait .*\n\[\]\n$/);
      expect(listed.err).toMatch(
        /^No answer: .+: next try in 2 s\nNo answer: .+: next try in [34] s\n59 requests remain\.\n$/,
      );
      requests = 0;
      const cancelled = await run("5");
      expect(cancelled.code).toBe(0);
      expect(cancelled.out).toContain("Order 5 is not in the list. An earlier try may have cancelled it.");
    });
  });

  it("sends an id with any characters once, and fails with its 404", async ({ expect }) => {
    const { key } = await service.createKey();
    for (const id of ["a b", "ä/../1", "%", "1?2"]) {
      const { code, out, err } = await runExample("orders", kind, key, { args: [id] });
      expect([code, out], id).toEqual([1, ""]);
      expect(err, id).toMatch(/^404 .*not_found.*\n$/);
    }
  });

  it("tries again after an error page in any charset", async ({ expect }) => {
    let requests = 0;
    const listener: RequestListener = (_, response) => {
      const isFirst = requests++ === 0;
      response.writeHead(isFirst ? 502 : 204, { "X-RateLimit-Remaining": "59" });
      response.end(isFirst ? Buffer.from("nicht verf\u00fcgbar", "latin1") : undefined);
    };
    await withServer(listener, async (at) => {
      const run = await runExample("orders", kind, "sok_any", { at, args: ["5"], prelude: NO_WAITS[kind] });
      expect([run.code, requests]).toEqual([0, 2]);
      expect(run.err).toBe("502: next try in 2 s\n59 requests remain.\n");
    });
  });

  it("fails in one line if the service cannot be reached", async ({ expect }) => {
    const at = await withServer(
      () => {},
      async (url) => url,
    );
    const { code, out, err } = await runExample("orders", kind, "sok_any", { at, prelude: NO_WAITS[kind] });
    expect([code, out.match(/^wait /gm)?.length]).toEqual([1, 5]);
    expect(err.split("\n").slice(5)).toEqual([
      expect.stringMatching(/^No answer: .*refused|ECONNREFUSED/),
      "",
    ]);
  });

  it("backs off exponentially, with jitter, without a number of seconds in Retry-After, and stops after the last try", async ({
    expect,
  }) => {
    await withServer(
      // A date, which a proxy could send, is no number of seconds.
      (_request, response) =>
        response.writeHead(500, { "Retry-After": new Date().toUTCString() }).end("broken"),
      async (at) => {
        const runs = await Promise.all(
          [1, 2].map(() => runExample("orders", kind, "sok_any", { at, prelude: NO_WAITS[kind] })),
        );
        const waits = runs.map(({ out }) =>
          [...out.matchAll(/^wait (.*)$/gm)].map(([, seconds]) => Number(seconds)),
        );
        for (const { code, err } of runs) {
          expect(code).toBe(1);
          expect(err).toContain("500 broken");
        }
        for (const of of waits) {
          expect(of).toHaveLength(5);
          for (const [i, seconds] of of.entries()) {
            expect(seconds).toBeGreaterThanOrEqual(2 ** i);
            expect(seconds).toBeLessThanOrEqual(2 ** (i + 1));
          }
        }
        expect(waits[0]).not.toEqual(waits[1]);
      },
    );
  });
});

describe("the program that waits (py)", () => {
  it("tries again if nothing more arrives on its connection", async ({ expect }) => {
    let requests = 0;
    const listener: RequestListener = (_, response) => {
      requests++;
      if (requests === 2) response.write("[");
      if (requests === 3) response.writeHead(200, { "X-RateLimit-Remaining": "59" }).end("[]");
    };
    const prelude = `${NO_WAITS.py}
import urllib.request as client
open_url = client.urlopen
client.urlopen = lambda request, timeout: open_url(request, timeout=timeout / 300)`;
    await withServer(listener, async (at) => {
      const listed = await runExample("orders", "py", "sok_any", { at, prelude });
      expect(listed).toMatchObject({ code: 0, out: expect.stringMatching(/^wait .*\nwait .*\n\[\]\n$/) });
      expect(listed.err).toMatch(/^No answer: .*timed out.*\nNo answer: .*timed out/);
    });
  });
});
