/** The source files as text, and what each imports: what the tests of the house's rules read. */
import { readdirSync, readFileSync } from "node:fs";
import { posix } from "node:path";

const ROOT = new URL("../../", import.meta.url).pathname;

export type Import = {
  /** A file under src/ (`keys/key-record.ts`), or the name of a package. */
  readonly to: string;
  readonly isOurs: boolean;
  /** Nothing of it is left when types are erased. */
  readonly isTypeOnly: boolean;
};

export type Source = {
  /** Under src/, as in `keys/key-record.ts`. */
  readonly path: string;
  readonly text: string;
  readonly imports: readonly Import[];
};

export function readSources(): Source[] {
  return filesUnder("src", ".ts").map((file) => {
    const text = readText(file);
    const path = file.slice("src/".length);
    return { path, text, imports: importsOf(path, text) };
  });
}

/** Nobody here wrote these: packages, and what is generated from the OpenAPI document. */
const NOT_OURS = /(^|\/)node_modules\/|\/openapi-types\.d\.ts$/;

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

/** The text without comments, so that a rule about code is not broken by a sentence about it. */
export function codeOf(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\//g, "").replace(/(^|[^:"'`])\/\/.*$/gm, "$1");
}

/** The file's opening comment; empty where it has none. */
export function headerOf(text: string): string {
  return text.match(/^(?:#!.*\n)?\/\*\*[\s\S]*?\*\//)?.[0] ?? "";
}

const STATEMENT = /^\s*(?:import|export)\s+(?:(type\s+)?([^"';]*?)\s+from\s+)?["']([^"']+)["']/gm;
const DYNAMIC = /\bimport\(\s*"([^"]+)"\s*\)/g;

function importsOf(path: string, text: string): Import[] {
  const code = codeOf(text);
  const statements = [...code.matchAll(STATEMENT)].map(([, type, names = "", target = ""]) => ({
    ...resolve(path, target),
    isTypeOnly: type !== undefined || hasOnlyTypes(names),
  }));
  const dynamic = [...code.matchAll(DYNAMIC)].map(([, target = ""]) => ({
    ...resolve(path, target),
    isTypeOnly: false,
  }));
  return [...statements, ...dynamic];
}

function hasOnlyTypes(names: string): boolean {
  const listed = names.match(/^\{([\s\S]*)\}$/)?.[1];
  if (listed === undefined) return false;
  const specifiers = listed.split(",").map((specifier) => specifier.trim());
  return specifiers.filter((specifier) => specifier !== "").every((name) => name.startsWith("type "));
}

function resolve(path: string, target: string): { to: string; isOurs: boolean } {
  const isOurs = target.startsWith(".");
  return { to: isOurs ? posix.join(posix.dirname(path), target) : target, isOurs };
}
