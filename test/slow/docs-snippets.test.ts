/**
 * Runs the snippets of README.md, docs and .github against one service with the demo orders. The rules:
 *
 * - A code block with the word `run` after its language is run, in the project's folder: `sh run` with bash (which stops
 *   at the first failure, also within a pipe), `ts run` with Node. Its exit code must be 0, or N with `exit=N`.
 * - `http://localhost:8787` is replaced by the service's address. `$KEY` is a new key of the Free plan, or of another
 *   (`plan=pro`), so that each block has its whole limit. `$KEY_ID` is its id. `$ADMIN_URL` and `$ADMIN_TOKEN` are set.
 * - A code block with the word `output` (`text output`), directly after a block that is run, shows its stdout: each line
 *   of the block must be printed. A number matches any number. So do an id, an API key, and a token of eight or more
 *   hexadecimal digits. `…` matches anything.
 * - A block that calls `localhost:8787` with curl must be run, so that it stays correct.
 */
import { afterAll, beforeAll, describe, it } from "vitest";
import { DEMO_KEYS, demoOrders } from "../../src/tools/demo-data.ts";
import { type Finished, runProcess } from "../support/cli.ts";
import { ADMIN_TOKEN, type Service, startService } from "../support/service.ts";
import { type CodeBlock, codeBlocks, markdownFiles, readText } from "../support/sources.ts";

const LOCAL = "http://localhost:8787";
/** One snippet uses up a limit, and goes on until it is banned. */
const SNIPPET_TIMEOUT_MS = 120_000;

type Snippet = CodeBlock & { readonly output: string | undefined };

const documents = markdownFiles().map((file) => ({ file, blocks: codeBlocks(readText(file)) }));

let service: Service;

beforeAll(async () => {
  service = await startService();
  await callAdminApi("PUT", "/admin/orders", demoOrders(Date.now()));
});

afterAll(async () => {
  await service?.close();
});

describe.for(documents)("$file", ({ blocks }) => {
  it("runs each of its calls", ({ expect }) => {
    const calls = blocks.filter(({ text }) => /\bcurl\b/.test(text) && text.includes("localhost:8787"));
    const isShown = ({ words }: CodeBlock) => words.includes("output");
    expect(calls.filter((block) => !block.words.includes("run") && !isShown(block))).toEqual([]);
  });

  for (const snippet of snippetsOf(blocks)) {
    it(
      `does what it says in line ${snippet.line}`,
      async ({ expect }) => {
        const finished = await run(snippet);
        expect(finished).toMatchObject({ code: Number(optionOf(snippet, "exit") ?? 0) });
        expect(notPrinted(snippet.output ?? "", finished.out)).toEqual([]);
      },
      SNIPPET_TIMEOUT_MS,
    );
  }
});

describe("the README", () => {
  it("has snippets that are run", ({ expect }) => {
    const readme = documents.find(({ file }) => file === "README.md");
    expect(snippetsOf(readme?.blocks ?? []).length).toBeGreaterThan(2);
  });
});

describe("the rules for snippets", () => {
  const markdown = [
    "```sh run plan=pro exit=2",
    "echo one",
    "exit 2",
    "```",
    "",
    "prints",
    "",
    "```text output",
    "one",
    "```",
    "```sh",
    "npm ci",
    "```",
  ].join("\n");

  it("finds the block that is run, with its options and its output", ({ expect }) => {
    const [snippet, ...others] = snippetsOf(codeBlocks(markdown));
    expect(others).toEqual([]);
    expect(snippet).toMatchObject({ line: 1, language: "sh", text: "echo one\nexit 2", output: "one" });
    expect(snippet && [optionOf(snippet, "plan"), optionOf(snippet, "exit")]).toEqual(["pro", "2"]);
  });

  it("matches any number, id and ellipsis, and nothing else", ({ expect }) => {
    const shown =
      'remaining: 59\nETag: "251-aa02fed2264ff501"\n  key_01a1fbf67d54  sok_0iTt5N45X7s03t0OYO\n[{"id":1}, …';
    const printed =
      'HTTP/1.1 200 OK\r\netag: "7-0123456789abcdef"\nRemaining: 41\r\nkey_77a0aa67d5ff  sok_9\n[{"id":2}, {}]\n';
    expect(notPrinted(shown, printed)).toEqual([]);
    expect(notPrinted(shown, printed.replace("41", "none"))).toEqual(["remaining: 59"]);
    expect(notPrinted(shown, printed.replace("etag", "tag"))).toEqual(['ETag: "251-aa02fed2264ff501"']);
    expect(notPrinted("[{}]", "[{},{}]")).toEqual(["[{}]"]);
    expect(notPrinted("a.c", "abc")).toEqual(["a.c"]);
  });
});

/** As `npm start` makes them: through the admin API. */
async function callAdminApi(method: string, path: string, body: unknown): Promise<unknown> {
  const response = await service.call(ADMIN_TOKEN, path, {
    method,
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${method} ${path} was answered with ${response.status}`);
  return response.json();
}

async function createDemoKey(plan: string): Promise<{ id: string; key: string }> {
  const demo = DEMO_KEYS.find((each) => each.plan === plan);
  // The admin API answers with the key's record and its secret.
  return (await callAdminApi("POST", "/admin/keys", demo)) as { id: string; key: string };
}

function snippetsOf(all: readonly CodeBlock[]): Snippet[] {
  return all.flatMap((block, i) => {
    if (!block.words.includes("run")) return [];
    const next = all[i + 1];
    return [{ ...block, output: next?.words.includes("output") ? next.text : undefined }];
  });
}

function optionOf({ words }: CodeBlock, name: string): string | undefined {
  return words.find((word) => word.startsWith(`${name}=`))?.slice(name.length + 1);
}

async function run(snippet: Snippet): Promise<Finished> {
  const { id, key } = await createDemoKey(optionOf(snippet, "plan") ?? "free");
  const origin = new URL(service.url).origin;
  const program =
    snippet.language === "ts"
      ? [process.execPath, "--input-type=module-typescript"]
      : ["bash", "-e", "-u", "-o", "pipefail"];
  const [command = "", ...args] = program;
  const { code, out, err } = await runProcess(
    command,
    args,
    { KEY: key, KEY_ID: id, ADMIN_URL: origin, ADMIN_TOKEN, NO_COLOR: "1" },
    { input: snippet.text.replaceAll(LOCAL, origin) },
  );
  return { code, out: out.replaceAll(origin, LOCAL), err };
}

/** The shown lines that are not among the printed ones. */
function notPrinted(shown: string, printed: string): string[] {
  const lines = printed.split("\n").map((line) => line.trim());
  return shown
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "" && !lines.some((each) => patternOf(line).test(each)));
}

const VARIABLE = / *… *|(?:sok|key|ban)_[\w…]+|\b[0-9a-f]{8,}(?:-[0-9a-f]{4,})*\b|\d+/g;

/** Header names match in any case, and any number of spaces matches. */
function patternOf(line: string): RegExp {
  const fixed = line
    .split(VARIABLE)
    .map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&").replace(/\s+/g, "\\s+"));
  const variable = [...line.matchAll(VARIABLE)].map(([text]) => {
    if (text.includes("…")) return ".*";
    if (/^\d+$/.test(text)) return "\\d+";
    return "[\\w-]+";
  });
  return new RegExp(`^${fixed.map((part, i) => part + (variable[i] ?? "")).join("")}$`, "i");
}
