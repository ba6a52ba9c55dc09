/** How `npm start` waits until the service answers: with a program in its place that answers what the test says. */
import { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import { describe, it } from "vitest";
import { adminClient } from "../../../src/cli/admin-client.ts";
import { untilReady } from "../../../src/tools/until-ready.ts";

async function readyAfter(statuses: readonly number[]): Promise<number> {
  let requests = 0;
  const server = createServer((_, response) => {
    response.writeHead(statuses[requests++] ?? 500).end("{}");
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const baseUrl = `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}`;
  const wrangler = {
    child: new ChildProcess(),
    output: () => "its output",
    exited: new Promise<number>(() => {}),
    stop: () => {},
  };
  try {
    const ready = untilReady(
      wrangler,
      adminClient({ baseUrl, token: "token", operator: "npm start" }),
      "/vars",
    );
    wrangler.child.emit("message", "ready");
    await ready;
    return requests;
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

describe("npm start", () => {
  it("waits while the service answers with an error of its own", async ({ expect }) => {
    expect(await readyAfter([500, 503, 200])).toBe(3);
  });

  it.for([401, 404])(
    "ends at once at a %i, and names the file that has the token",
    async (status, { expect }) => {
      await expect(readyAfter([status, 200])).rejects.toThrow(
        `The service does not accept the ADMIN_TOKEN in /vars (${status}): wrangler reads another one.`,
      );
    },
  );
});
