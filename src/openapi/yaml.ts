/** JSON values as YAML: the small part of it that the OpenAPI document needs. Pure. */
import type { Json, JsonObject } from "./json.ts";

/** Plain where no version of YAML reads it as anything but this text. */
const PLAIN_KEY = /^(?!(?:y|n|yes|no|on|off|true|false|null)$)[a-z$/][\w{}$/.-]*$/i;

/** Several lines that a literal block keeps as they are: nothing at either end that it would trim. */
const IS_PROSE = /^\S[^\r]*\n[^\r]*\S$/;

export function toYaml(value: Json): string {
  return `${block(value, "").replace(/^\n/, "")}\n`;
}

/** What follows `key:` or `-`: a scalar after a space, or lines of their own. */
function block(value: Json, indent: string): string {
  if (typeof value === "string" && IS_PROSE.test(value)) return literal(value, `${indent}  `);
  if (typeof value !== "object" || value === null) return ` ${JSON.stringify(value)}`;
  if (isList(value)) {
    return value.length === 0 ? " []" : value.map((item) => listItem(item, indent)).join("");
  }
  const members = Object.entries(value).flatMap(([key, member]) =>
    member === undefined ? [] : [`\n${indent}${keyText(key)}:${nested(member, indent)}`],
  );
  return members.length === 0 ? " {}" : members.join("");
}

/** The first member of an object stands beside the dash. */
function listItem(item: Json, indent: string): string {
  return `\n${indent}-${nested(item, indent).replace(/^\n +/, " ")}`;
}

function nested(value: Json, indent: string): string {
  return block(value, typeof value === "object" ? `${indent}  ` : indent);
}

/** `|-` keeps every line as it is and adds no line's end. */
function literal(text: string, indent: string): string {
  const lines = text.split("\n").map((line) => (line === "" ? "" : indent + line));
  return ` |-\n${lines.join("\n")}`;
}

function keyText(key: string): string {
  return PLAIN_KEY.test(key) ? key : JSON.stringify(key);
}

// Array.isArray does not narrow readonly arrays.
function isList(value: readonly Json[] | JsonObject): value is readonly Json[] {
  return Array.isArray(value);
}
