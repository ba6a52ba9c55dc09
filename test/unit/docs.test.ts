/** README.md, docs and .github against the project: links and paths exist, and lists are complete. */
import { posix } from "node:path";
import { describe, it } from "vitest";
import { PUBLIC_CODES, statusOf } from "../../src/openapi/error-catalogue.ts";
import {
  codeBlocks,
  exists,
  filesUnder,
  markdownFiles,
  readText,
  withoutCodeBlocks,
} from "../support/sources.ts";

const documents = markdownFiles();

describe("the documents", () => {
  it("exist", ({ expect }) => {
    expect(documents).toEqual(
      expect.arrayContaining([
        "README.md",
        "CHANGELOG.md",
        "docs/architecture.md",
        ".github/CONTRIBUTING.md",
      ]),
    );
  });

  it("and the program that waits give curl no token as an argument, which the list of processes shows", ({
    expect,
  }) => {
    const blocks = documents.flatMap((file) => codeBlocks(readText(file)).map(({ text }) => text));
    const asArgument = /(?:-H|--header) "Authorization: [^"]*\$(?:\w+TOKEN|\(cat)/;
    expect(blocks.filter((text) => asArgument.test(text))).toEqual([]);
    expect(readText("src/pages/docs/examples/orders.sh")).not.toContain('"Authorization: Bearer $KEY"');
  });

  for (const file of documents) {
    it(`${file} links to files and headings that exist`, ({ expect }) => {
      expect(linksIn(file).filter((link) => !isValidLink(file, link))).toEqual([]);
    });

    it(`${file} names files and folders that exist`, ({ expect }) => {
      expect(pathsIn(file).filter((path) => !exists(path) && !exists(`src/worker/${path}`))).toEqual([]);
    });
  }

  it("begin with a README of at most 200 lines", ({ expect }) => {
    expect(readText("README.md").trimEnd().split("\n").length).toBeLessThanOrEqual(200);
  });
});

describe("the check of links", () => {
  it("refuses a link to a missing file or heading", ({ expect }) => {
    expect(isValidLink("README.md", "docs/nothing.md")).toBe(false);
    expect(isValidLink("README.md", "docs/decisions.md#nothing")).toBe(false);
    expect(isValidLink("docs/operating.md", "decisions.md#adr-7-fixed-windows")).toBe(true);
    expect(isValidLink("README.md", "#nothing")).toBe(false);
    expect(isValidLink("README.md", "#limits")).toBe(true);
  });
});

describe("lists in the documents", () => {
  it("README.md has every public error code, with its status", ({ expect }) => {
    const rows = [...readText("README.md").matchAll(/^\| `([a-z_]+)` \| (\d+) \|/gm)];
    expect(rows.map(([, code, status]) => [code, Number(status)])).toEqual(
      PUBLIC_CODES.map((code) => [code, statusOf(code)]),
    );
  });

  it("docs/architecture.md has every table and view of D1", ({ expect }) => {
    const sql = filesUnder("migrations", ".sql").map(readText).join("\n");
    const made = [...sql.matchAll(/^CREATE (?:TABLE|VIEW) `(\w+)`/gm)].map(([, name]) => name);
    const section = sectionOf("docs/architecture.md", "D1");
    expect(made.length).toBeGreaterThan(5);
    expect(made.filter((name) => !section.includes(`| \`${name}\` |`))).toEqual([]);
  });

  it("docs/deploying.md has every var and secret", ({ expect }) => {
    const names = [...readText("src/worker/context.ts").matchAll(/readonly ([A-Z_]+)\?: string;/g)];
    const document = readText("docs/deploying.md");
    expect(names.length).toBeGreaterThan(3);
    expect(names.map(([, name]) => name).filter((name) => !document.includes(`| \`${name}\` |`))).toEqual([]);
  });

  it("docs/operating.md has every event of the log", ({ expect }) => {
    const code = filesUnder("src/worker", ".ts").map(readText).join("\n");
    const logged = [...code.matchAll(/\blog(?:Error|Event)\(\s*"(\w+)"/g)].map(([, event]) => event);
    const listed = [...sectionOf("docs/operating.md", "Logs").matchAll(/^\| `(\w+)` \|/gm)];
    expect(listed.map(([, event]) => event).sort()).toEqual([...new Set(logged)].sort());
  });
});

describe("the queries of docs/second-day.md", () => {
  const questions = ["Questions at night", "Alerts"]
    .map((name) => sectionOf("docs/second-day.md", name))
    .join();
  const names = [...questions.matchAll(/`([\w.]+)(?: [=><]+ [^`]+)?`/g)].map(([, name = ""]) => name);
  const events = [...sectionOf("docs/operating.md", "Logs").matchAll(/^\| `(\w+)` \|/gm)].map(
    ([, name]) => name,
  );

  it("name events and fields of the log", ({ expect }) => {
    const code = readText("src/worker/log.ts");
    const others = names.filter((name) => !events.includes(name));
    const fields = ["status", "route", "durationMs", "keyId", "reason", "network", "requestId", "dayPercent"];
    const context = ["event", "error.message", "error.cause.message", "request"];
    const answers = ["database", "limiter", "LIMITER_FAILURE_MODE", "open"];
    expect(fields.filter((field) => !new RegExp(`readonly ${field}\\??:`).test(code))).toEqual([]);
    expect(others.filter((name) => ![...fields, ...context, ...answers].includes(name))).toEqual([]);
    expect(names.filter((name) => events.includes(name)).length).toBeGreaterThan(8);
  });
});

describe("the decisions", () => {
  const decided = [...readText("docs/decisions.md").matchAll(/^## ADR-(\d+)\. /gm)].map(([, n]) => Number(n));
  const code = [
    ...filesUnder("src", ".ts"),
    ...filesUnder("src/pages", ".tsx"),
    ...filesUnder("migrations", ".sql"),
    "wrangler.toml",
  ];

  it("are numbered from ADR-1 without a gap or a repetition, in order", ({ expect }) => {
    expect(decided.length).toBeGreaterThan(0);
    expect(decided).toEqual(decided.map((_, index) => index + 1));
  });

  it("include each cited one", ({ expect }) => {
    const cited = [...code, ...filesUnder("test", ".ts"), ...documents].flatMap(citationsIn);
    expect(cited.length).toBeGreaterThan(10);
    expect(cited.filter(({ number }) => !decided.includes(number))).toEqual([]);
  });

  it("are each cited in the code", ({ expect }) => {
    const cited = code.flatMap(citationsIn);
    expect(decided.filter((number) => !cited.some((each) => each.number === number))).toEqual([]);
  });
});

/** The targets of a document's links to this repository. */
function linksIn(file: string): string[] {
  return [...withoutCodeBlocks(readText(file)).matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target = ""]) => target)
    .filter((target) => !/^[a-z]+:/.test(target));
}

function isValidLink(file: string, link: string): boolean {
  const [path = "", anchor] = link.split("#");
  const target = path === "" ? file : posix.join(posix.dirname(file), path);
  if (!exists(target)) return false;
  return anchor === undefined || headingsOf(target).map(anchorOf).includes(anchor);
}

function headingsOf(file: string): string[] {
  return [...withoutCodeBlocks(readText(file)).matchAll(/^#+ (.+)$/gm)].map(([, heading = ""]) => heading);
}

/** As GitHub makes it: `ADR-7. Fixed windows` becomes `adr-7-fixed-windows`. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\w -]/g, "")
    .replaceAll(" ", "-");
}

/** Files and folders that inline code names: from the project's root, or a `.ts` file from `src/worker`. */
function pathsIn(file: string): string[] {
  const code = [...withoutCodeBlocks(readText(file)).matchAll(/`([^`\n]+)`/g)].map(([, text = ""]) => text);
  return code.flatMap((text) => [
    ...(text.match(/(?<![\w/.-])(?:src|test|docs|migrations|\.ci|\.github)\/[\w./-]+/g) ?? []),
    ...(/^[\w-]+\/[\w./-]+\.ts$/.test(text) ? [text] : []),
  ]);
}

function sectionOf(file: string, heading: string): string {
  const [, after = ""] = readText(file).split(new RegExp(`^#+ ${heading}$`, "m"));
  return after.split(/^#+ /m)[0] ?? "";
}

function citationsIn(file: string): { file: string; number: number }[] {
  return [...readText(file).matchAll(/\bADR-(\d+)/g)].map(([, number]) => ({ file, number: Number(number) }));
}
