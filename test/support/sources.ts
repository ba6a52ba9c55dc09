/** The project's files as text, for tests that read them. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";

const ROOT = join(import.meta.dirname, "..", "..");

/** Packages, and what is generated from the OpenAPI document. */
const NOT_OURS = /(^|\/)node_modules\//;

/** The files below a folder of the project, by path from its root. */
export function filesUnder(folder: string, extension: string): string[] {
  return readdirSync(posix.join(ROOT, folder), { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(extension) && !NOT_OURS.test(file))
    .map((file) => posix.join(folder, file))
    .sort();
}

export function readText(file: string): string {
  return readFileSync(posix.join(ROOT, file), "utf8");
}

export function exists(path: string): boolean {
  return existsSync(posix.join(ROOT, path));
}

/** The documents that people read on GitHub. */
export function markdownFiles(): string[] {
  return [
    ...readdirSync(ROOT).filter((file) => file.endsWith(".md")),
    ...filesUnder("docs", ".md"),
    ...filesUnder(".github", ".md"),
  ];
}

/** A code block of Markdown: its language, the other words of its info string, and its text. */
export type CodeBlock = {
  /** The line that opens it. */
  readonly line: number;
  readonly language: string;
  readonly words: readonly string[];
  readonly text: string;
};

const CODE_BLOCK = /^( *)```(\S+)([^\n]*)\n(.*?)\n? *```$/gms;

export function codeBlocks(markdown: string): CodeBlock[] {
  return [...markdown.matchAll(CODE_BLOCK)].map((match) => {
    const [, , language = "", info = "", text = ""] = match;
    const line = markdown.slice(0, match.index).split("\n").length;
    return { line, language, words: info.split(/\s+/).filter((word) => word !== ""), text };
  });
}

export function withoutCodeBlocks(markdown: string): string {
  return markdown.replace(CODE_BLOCK, "");
}
