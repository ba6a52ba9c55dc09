/** No file of the repository has an API key, and scanners know keys from samples. */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "smol-toml";
import { describe, it } from "vitest";
import { hasKey, isWellFormedKey, maskKey, mintKey } from "../../src/worker/auth/key-format.ts";
import { PROJECT } from "../support/cli.ts";
import { exists, readText } from "../support/sources.ts";

/** With files that are not committed yet. */
const listed = spawnSync("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], {
  cwd: PROJECT,
  encoding: "utf8",
});
// Without git, or in a tree that is no clone, it is not known which files belong to the repository.
const isUnknown = !exists(".git") || listed.error !== undefined;
const files = isUnknown ? [] : listed.stdout.split("\0");

type Rules = { rules: [{ regex: string; allowlists: [{ regexes: [string] }] }] };
// The tests below fail if the file has another shape.
const { rules } = parse(readText(".gitleaks.toml")) as unknown as Rules;
const [{ regex, allowlists }] = rules;
const [{ regexes }] = allowlists;
const SCANNED = new RegExp(regex, "g");
const SAMPLE = new RegExp(regexes[0]);

const found = files.flatMap((file) => keysIn(file === "" ? "" : textOf(file)).map((key) => ({ file, key })));

describe.skipIf(isUnknown)("the files of the repository", () => {
  it("have no key with a valid checksum", ({ expect }) => {
    expect(files.length).toBeGreaterThan(300);
    expect(found.filter(({ key }) => isWellFormedKey(key)).map(({ file }) => file)).toEqual([]);
  });

  it("have sample keys, which scanners know as such", ({ expect }) => {
    expect(new Set(found.map(({ file }) => file))).toEqual(new Set(["README.md", "docs/operating.md"]));
    expect(found.filter(({ key }) => !SAMPLE.test(key))).toEqual([]);
  });
});

describe("the pattern for scanners", () => {
  const key = mintKey((count) => crypto.getRandomValues(new Uint8Array(count)));

  it("finds a key in text, in a URL and in code, and is the documented one", ({ expect }) => {
    for (const text of [
      key,
      `Bearer%20${key}`,
      `?api_key=${key}&x=1`,
      `KEY="${key}";`,
      `${key}.`,
      `${key}_prod`,
    ]) {
      expect(keysIn(text), text).toEqual([key]);
      expect(hasKey(text)).toBe(true);
    }
    expect(readText("docs/supply-chain.md")).toContain("`sok_[0-9A-Za-z]{38}`");
    expect(regex).toContain("sok_[0-9A-Za-z]{38}");
  });

  it("finds no mask and no longer word, and does not take a key for a sample", ({ expect }) => {
    expect(keysIn(`${maskKey(key)} ${key}0 ${key.slice(0, -1)}`)).toEqual([]);
    expect(SAMPLE.test(key)).toBe(false);
  });
});

function textOf(file: string): string {
  try {
    return readFileSync(join(PROJECT, file), "utf8");
  } catch {
    return ""; // It is deleted, but not yet committed.
  }
}

function keysIn(text: string): string[] {
  return [...text.matchAll(SCANNED)].map(([, key = ""]) => key);
}
