/**
 * The README's snippets are run, against a service with the demo orders. The rule:
 *
 * - A fenced block whose info string has the word `run` after its language is run: `sh run` with bash (it stops at the
 *   first failure, also within a pipe), `ts run` with Node. Where it runs is the project's folder, so a `ts` block
 *   imports `./src/…`. It must end with exit code 0, or with N where the info string says `exit=N`.
 *   With `slow` it is run only where SLOW is set, as `npm run check:contract` does.
 * - In it, `http://localhost:8787` becomes the service's address. `$KEY` is a new key of the Free plan, or of another
 *   (`plan=pro`), so that each block has its whole limit; `$ADMIN_URL` and `$ADMIN_TOKEN` are the operator's.
 * - A fenced block whose info string has the word `output` (`text output`) and that is the next one after a block that
 *   is run is what that prints to stdout: each of its lines must be among those printed. A number stands for any other, so do an
 *   id, an API key and a token of eight or more hexadecimal digits, and `…` stands for anything.
 * - A block that calls `localhost:8787` with curl must be run: a snippet that nobody tries goes stale.
 */
import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, it } from "vitest";
import { demoOrders } from "../../src/tools/demo-data.ts";
import { ADMIN_TOKEN, type Service, startService } from "../support/service.ts";

const ROOT = new URL("../../", import.meta.url).pathname;
const README = `${ROOT}README.md`;
const LOCAL = "http://localhost:8787";
/** A slow snippet may wait for a limit to be used up and more. */
const SNIPPET_TIMEOUT_MS = 120_000;

type Block = {
  readonly line: number;
  readonly language: string;
  readonly words: readonly string[];
  readonly text: string;
};
type Snippet = Block & { readonly output: string | undefined };

const blocks = existsSync(README) ? fencedBlocks(readFileSync(README, "utf8")) : [];
const snippets = snippetsOf(blocks);

let service: Service;

beforeAll(async () => {
  if (snippets.length === 0) return;
  service = await startService();
  const response = await service.call(ADMIN_TOKEN, "/admin/orders", {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(demoOrders(Date.now())),
  });
  if (!response.ok) throw new Error(`the demo orders were answered with ${response.status}`);
});

afterAll(async () => {
  await service?.close();
});

describe.skipIf(blocks.length === 0)("the README", () => {
  it("has snippets that are run", ({ expect }) => {
    expect(snippets.length).toBeGreaterThan(0);
  });

  it("has no call that is not run", ({ expect }) => {
    const calls = blocks.filter(({ text }) => /\bcurl\b/.test(text) && text.includes("localhost:8787"));
    const isShown = ({ words }: Block) => words.includes("output");
    expect(calls.filter((block) => !block.words.includes("run") && !isShown(block))).toEqual([]);
  });

  for (const snippet of snippets) {
    const isLeftOut = snippet.words.includes("slow") && !process.env.SLOW;
    it.skipIf(isLeftOut)(
      `does what it says in line ${snippet.line}`,
      async ({ expect }) => {
        const { code, output, problems } = await run(snippet);
        expect({ code, output, problems }).toMatchObject({ code: Number(optionOf(snippet, "exit") ?? 0) });
        expect(notPrinted(snippet.output ?? "", output)).toEqual([]);
      },
      SNIPPET_TIMEOUT_MS,
    );
  }
});

describe("the rule for snippets", () => {
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

  it("finds what is run, with its options and its output", ({ expect }) => {
    const [snippet, ...others] = snippetsOf(fencedBlocks(markdown));
    expect(others).toEqual([]);
    expect(snippet).toMatchObject({ line: 1, language: "sh", text: "echo one\nexit 2", output: "one" });
    expect(snippet && [optionOf(snippet, "plan"), optionOf(snippet, "exit")]).toEqual(["pro", "2"]);
  });

  it("takes any number, id and ellipsis for what was printed, and nothing else", ({ expect }) => {
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

function fencedBlocks(markdown: string): Block[] {
  return [...markdown.matchAll(/^```(\S+)([^\n]*)\n(.*?)\n?^```$/gms)].map((match) => {
    const [, language = "", info = "", text = ""] = match;
    const line = markdown.slice(0, match.index).split("\n").length;
    return { line, language, words: info.split(/\s+/).filter((word) => word !== ""), text };
  });
}

function snippetsOf(all: readonly Block[]): Snippet[] {
  return all.flatMap((block, i) => {
    if (!block.words.includes("run")) return [];
    const next = all[i + 1];
    return [{ ...block, output: next?.words.includes("output") ? next.text : undefined }];
  });
}

function optionOf({ words }: Block, name: string): string | undefined {
  return words.find((word) => word.startsWith(`${name}=`))?.slice(name.length + 1);
}

async function run(snippet: Snippet): Promise<{ code: number | null; output: string; problems: string }> {
  const { key } = await service.createKey({ plan: optionOf(snippet, "plan") ?? "free" });
  const origin = new URL(service.url).origin;
  const program =
    snippet.language === "ts"
      ? [process.execPath, "--input-type=module-typescript"]
      : ["bash", "-e", "-u", "-o", "pipefail"];
  const [command = "", ...args] = program;
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      cwd: ROOT,
      env: { ...process.env, KEY: key, ADMIN_URL: origin, ADMIN_TOKEN, NO_COLOR: "1" },
    });
    let output = "";
    let problems = "";
    child.stdout.on("data", (data: Buffer) => {
      output += data.toString();
    });
    child.stderr.on("data", (data: Buffer) => {
      problems += data.toString();
    });
    child.once("error", reject);
    child.once("close", (code) => resolve({ code, output: output.replaceAll(origin, LOCAL), problems }));
    child.stdin.end(snippet.text.replaceAll(LOCAL, origin));
  });
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

/** Header names come in any case, and runs of spaces are a matter of widths. */
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
