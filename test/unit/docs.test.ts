/** The documents: their links lead to files and headings that exist, and they name files that exist. */
import { posix } from "node:path";
import { describe, it } from "vitest";
import { exists, filesUnder, markdownFiles, readText, withoutCodeBlocks } from "../support/sources.ts";

const documents = markdownFiles();

describe("the documents", () => {
  for (const file of documents) {
    it(`${file} links to files and headings that exist`, ({ expect }) => {
      expect(linksIn(file).filter((link) => !isValidLink(file, link))).toEqual([]);
    });

    it(`${file} names files and folders that exist`, ({ expect }) => {
      const names = withoutCodeBlocks(readText(file)).matchAll(/`((?:src|test|docs|migrations)\/[\w./-]+)`/g);
      expect([...names].map(([, path = ""]) => path).filter((path) => !exists(path))).toEqual([]);
    });
  }

  it("let npx run only packages of the project, because npx fetches a name that it does not find", ({
    expect,
  }) => {
    const { dependencies, devDependencies } = JSON.parse(readText("package.json"));
    const texts = documents
      .filter((file) => !/CHANGELOG/.test(file))
      .map(readText)
      .join("\n");
    const names = [...texts.matchAll(/npx (?:-\S+ )*([\w@/-]+)/g)].map(([, name = ""]) => name);
    expect(names.filter((name) => !(name in { ...dependencies, ...devDependencies }))).toEqual([]);
  });

  it("have each event of the log, and no other", ({ expect }) => {
    const files = [".ts", ".tsx"].flatMap((ending) => filesUnder("src/worker", ending));
    const logged = files.flatMap((file) =>
      [...readText(file).matchAll(/\blog(?:Error|Event|SignIn)\((?:c, )?"(\w+)"/g)].map(([, event]) => event),
    );
    const [, table = ""] = readText("docs/runbook.md").split("### Other lines\n");
    const rows = [...(table.split("\n## ")[0] ?? "").matchAll(/^\|([^|]+)\|/gm)];
    const named = rows.flatMap(([, cell = ""]) => [...cell.matchAll(/`(\w+)`/g)].map(([, event]) => event));
    expect(named.toSorted()).toEqual([...new Set(logged)].toSorted());
  });

  it("has each file and heading to which the console links", ({ expect }) => {
    const links = filesUnder("src/worker", ".tsx").flatMap((file) =>
      [...readText(file).matchAll(/docsUrl\("([^"]+)"\)/g)].map(([, link = ""]) => link),
    );
    expect(links.length).toBeGreaterThan(5);
    expect(links.filter((link) => !isValidLink("docs/runbook.md", link))).toEqual([]);
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
  const headings = [...withoutCodeBlocks(readText(target)).matchAll(/^#+ (.+)$/gm)];
  return anchor === undefined || headings.map(([, heading = ""]) => anchorOf(heading)).includes(anchor);
}

/** As GitHub makes it: `ADR-7. Fixed windows` becomes `adr-7-fixed-windows`. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\w -]/g, "")
    .replaceAll(" ", "-");
}
