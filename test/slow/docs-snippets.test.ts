/**
 * Runs the snippets of README.md, docs and .github against one service with the demo orders: each block of
 * code with the word `run` after its language, with bash in the project's folder. Its exit code must be 0, or
 * N with `exit=N`. `http://localhost:8787` is the service's address, `$KEY` a new key of the Free plan, and
 * `$KEY_ID` its id; `$ADMIN_URL` and `$ADMIN_TOKEN` are set.
 */
import { afterAll, beforeAll, describe, it } from "vitest";
import { demoOrders } from "../../src/tools/demo-data.ts";
import { runProcess } from "../support/cli.ts";
import { ADMIN_TOKEN, type Service, startService } from "../support/service.ts";
import { codeBlocks, markdownFiles, readText } from "../support/sources.ts";

const LOCAL = "http://localhost:8787";

const snippets = markdownFiles().flatMap((file) =>
  codeBlocks(readText(file))
    .filter(({ words }) => words.includes("run"))
    .map((block) => ({ ...block, place: `${file}:${block.line}` })),
);

let service: Service;

beforeAll(async () => {
  service = await startService();
  await service.admin("PUT", "/orders", demoOrders(Date.now()));
});
afterAll(() => service?.close());

describe("a snippet", () => {
  it.for(snippets)("runs as it stands: $place", async ({ words, text }, { expect }) => {
    const { key, id } = await service.createKey({ plan: "free" });
    const { origin } = new URL(service.url);
    const { code, out, err } = await runProcess(
      "bash",
      ["-e", "-u", "-o", "pipefail"],
      { KEY: key, KEY_ID: id, ADMIN_URL: origin, ADMIN_TOKEN, NO_COLOR: "1" },
      { input: text.replaceAll(LOCAL, origin) },
    );
    const exit = words.find((word) => word.startsWith("exit="))?.slice("exit=".length) ?? "0";
    expect(code, out + err).toBe(Number(exit));
  });
});
