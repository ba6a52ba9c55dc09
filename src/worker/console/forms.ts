/** What forms send, as the schemas of the admin API expect it. */
import type * as v from "valibot";
import { refuseAdminToken } from "../admin/http/request-validation.ts";
import type { Effective } from "../admin/tell-limiters.ts";
import { hasKey } from "../auth/key.ts";
import { check, describeProblems, type ObjectSchema } from "../check-schema.ts";
import { invalidRequest } from "../errors.ts";
import { nowSeconds } from "../time.ts";
import type { ConsoleContext } from "./page.tsx";

export type Typed = Readonly<Record<string, string>>;

/** The fields of a form as text, without files. */
export async function formOf(c: ConsoleContext): Promise<Typed> {
  const fields = Object.entries(await receiveForm(c)).filter(
    (field): field is [string, string] => typeof field[1] === "string",
  );
  return Object.fromEntries(fields);
}

/** A change begins when its form has arrived. */
export async function receiveForm(c: ConsoleContext): Promise<Readonly<Record<string, string | File>>> {
  const form = await c.req.parseBody<Record<string, string | File>>().catch(() => {
    throw invalidRequest("The form did not arrive in full, or is no form. Nothing was changed.");
  });
  if (c.var.author) c.set("author", { ...c.var.author, at: nowSeconds() });
  return form;
}

/** The query of a page, whose filters are forms: an empty field filters nothing. */
export function queryOf<S extends ObjectSchema>(c: ConsoleContext, schema: S): v.InferOutput<S> {
  const typed = Object.entries(c.req.query()).filter(([, value]) => value.trim() !== "");
  const query = Object.fromEntries(typed);
  if (hasKey(JSON.stringify(query))) {
    throw invalidRequest("A secret must not be in an address. Paste it into the search field of the bar.");
  }
  // The message of an unknown field would have a text of the address in it.
  if (Object.keys(query).some((name) => !Object.hasOwn(schema.entries, name))) {
    throw invalidRequest("The address has a filter that this page does not have.");
  }
  return accept(c, schema, query);
}

/** Throws the 400 that names every wrong field. */
export function accept<S extends ObjectSchema>(
  c: ConsoleContext,
  schema: S,
  input: unknown,
): v.InferOutput<S> {
  refuseAdminToken(input, c.env);
  const checked = check(schema, input);
  if (checked.ok) return checked.output;
  throw invalidRequest(describeProblems(checked.problems));
}

/** The version that the form showed. */
export function versionOf({ version = "" }: Typed): number | undefined {
  return /^\d{1,15}$/.test(version) ? Number(version) : undefined;
}

/** The prefix of the hidden fields that hold what the others showed at first. */
export const WAS = "was.";

/** The fields whose text is another than the form showed: meanwhile somebody may have changed what the others stand for. */
export function changedIn(typed: Typed): Typed {
  const fields = Object.entries(typed).filter(([name]) => !name.startsWith(WAS));
  return Object.fromEntries(fields.filter(([name, text]) => text !== typed[WAS + name]));
}

/** An empty field stands for none. */
export function textOrNull(text = ""): string | null {
  return text.trim() === "" ? null : text.trim();
}

/** What is no number stays text, which the schema refuses. */
export function numberOrNull(text = ""): number | string | null {
  const digits = text.trim().replaceAll(",", "");
  return digits === "" ? null : /^-?\d+$/.test(digits) ? Number(digits) : digits;
}

/** A field of the type `datetime-local`, which has no zone; the console's times are in UTC. */
export function utcOrNull(text = ""): string | null {
  if (text.trim() === "") return null;
  return text.length === "2026-11-21T10:00".length ? `${text}:00Z` : `${text}Z`;
}

/** `path` with the parameters that are not empty. */
export function addressOf(
  path: string,
  query: Readonly<Record<string, string | number | null | undefined>>,
): string {
  const set = Object.entries(query).filter(
    ([, value]) => value !== undefined && value !== null && value !== "",
  );
  const text = new URLSearchParams(set.map(([name, value]) => [name, String(value)])).toString();
  return text === "" ? path : `${path}?${text}`;
}

type Made = { readonly version: number | string; readonly effective?: Effective };

/** Where a form leads that has made this change. The page says what was done in its own words. */
export function doneAddress(
  path: string,
  done: string,
  { version, effective = "immediately" }: Made,
): string {
  return addressOf(path, { done, version, later: effective === "immediately" ? "" : "yes" });
}

/** Whether that form led here, and the object is as the form has left it: anybody can make an address. */
export function isDone(c: ConsoleContext, done: string, { version }: Made): boolean {
  const query = c.req.query();
  return c.req.method === "GET" && query.done === done && query.version === String(version);
}

/** When the change of such an address takes effect. */
export function effectIn(c: ConsoleContext): Effective {
  return c.req.query("later") === undefined ? "immediately" : "within minutes";
}

type Direction = "asc" | "desc";

/** The addresses of a list sorted by each of its columns. The column that it is sorted by reverses it. */
export function sortLinks<Sort extends string>(
  path: string,
  shown: Typed,
  { sort, direction }: { readonly sort: Sort; readonly direction: Direction },
) {
  return (name: Sort, first: Direction = "asc") => {
    const opposite = direction === "asc" ? "desc" : "asc";
    const next = sort === name ? opposite : first;
    return {
      href: addressOf(path, { ...shown, sort: name, direction: next, after: "" }),
      direction: sort === name ? (`${direction}ending` as const) : undefined,
    };
  };
}
