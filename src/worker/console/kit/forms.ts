/** Reads forms, and addresses with filters, in the form that the schemas of the admin API expect. */
import type * as v from "valibot";
import type { Call } from "../../admin/call.ts";
import { customerCalls } from "../../admin/customers/calls.ts";
import { checked } from "../../admin/http/request-validation.ts";
import type { Effective } from "../../admin/refresh-limiters.ts";
import { inputOf } from "../../admin/serve.ts";
import { hasKey } from "../../key/key.ts";
import { invalidRequest } from "../../platform/errors.ts";
import type { ObjectSchema } from "../../text/check-schema.ts";
import { type FormTexts, membersIn } from "./members.ts";
import type { ConsoleContext } from "./page.tsx";

/** Reads the fields of a form as text, without files. */
export async function formOf(c: ConsoleContext): Promise<FormTexts> {
  return textsIn(await receiveForm(c));
}

export function textsIn(form: FormData): FormTexts {
  const fields = [...form].filter((field): field is [string, string] => typeof field[1] === "string");
  return Object.fromEntries(fields);
}

export function receiveForm(c: ConsoleContext): Promise<FormData> {
  return c.req.formData().catch(() => {
    throw invalidRequest("The form did not arrive in full, or is no form. Nothing was changed.");
  });
}

/** Returns the ids of the rows that were ticked. A preview has them in one field. */
export function tickedIn(form: FormData): readonly string[] {
  return form.getAll("ids").flatMap((ids) => (typeof ids === "string" ? ids.split(" ") : []));
}

/** Reads the query of a page. An empty field of a filter filters nothing. */
export function queryOf<S extends ObjectSchema>(
  c: ConsoleContext,
  schema: S,
  byDefault: FormTexts = {},
): v.InferOutput<S> {
  const typed = Object.entries(c.req.query()).filter(([, value]) => value.trim() !== "");
  const query = { ...byDefault, ...Object.fromEntries(typed) };
  if (hasKey(JSON.stringify(query))) {
    throw invalidRequest("A secret must not be in an address. Paste it into the search field of the bar.");
  }
  // The schema's message for an unknown field would repeat a text of the address.
  if (Object.keys(query).some((name) => !Object.hasOwn(schema.entries, name))) {
    throw invalidRequest("The address has a filter that this page does not have.");
  }
  return checked(c.env, schema, query);
}

/** Asks a call that reads, with the texts that its query would have in an address. */
export function ask<Query extends ObjectSchema, Given>(
  c: ConsoleContext,
  call: Call<ObjectSchema, Query, v.GenericSchema, Given>,
  texts: FormTexts,
  id = "",
): Promise<Given> {
  return call.run(inputOf(c, { id, query: checked(c.env, querySchemaOf(call), texts) }));
}

export function querySchemaOf<Query extends ObjectSchema>({
  id,
  query,
}: {
  readonly id: string;
  readonly query?: Query;
}): Query {
  if (query === undefined) throw new Error(`${id} has no query`);
  return query;
}

const SUGGESTED = "500";

/** The names that a field of a customer offers. */
export async function knownCustomers(c: ConsoleContext): Promise<readonly string[]> {
  const { customers } = await ask(c, customerCalls.list, { limit: SUGGESTED });
  return customers.flatMap(({ name, erasedAt }) => (erasedAt === null ? name : []));
}

/** The ids of the object that a form changes, and of a part of the object. */
export type FormTarget = { readonly id?: string; readonly partId?: string };

/** Changes the members that were typed, if the object still has the version that the form showed. */
export function sendForm<Body extends ObjectSchema, Query extends ObjectSchema, Given>(
  c: ConsoleContext,
  call: Call<Body, Query, v.GenericSchema, Given>,
  typed: FormTexts,
  named: FormTarget = {},
): Promise<Given> {
  return call.run(inputOfForm(c, call, typed, named));
}

/** Returns a form as the input of its call. */
export function inputOfForm<Body extends ObjectSchema>(
  c: ConsoleContext,
  { body: schema }: { readonly body?: Body },
  typed: FormTexts,
  named: FormTarget,
) {
  const body = schema && checked(c.env, schema, membersIn(schema, changedIn(typed)));
  // A call without a body takes none.
  return inputOf(c, { ...named, body: body as v.InferOutput<Body>, expected: versionOf(typed) });
}

/** Reads the version that the form showed. */
function versionOf({ version = "" }: FormTexts): number | undefined {
  return /^\d{1,15}$/.test(version) ? Number(version) : undefined;
}

/** A hidden field with this prefix holds the text that its field showed at first. */
export const WAS = "was.";

/** Returns the fields whose text was changed. Somebody may have changed the other members meanwhile. */
export function changedIn(typed: FormTexts): FormTexts {
  const fields = Object.entries(typed).filter(([name]) => !name.startsWith(WAS));
  return Object.fromEntries(fields.filter(([name, text]) => text !== typed[WAS + name]));
}

/** Returns `path` with the parameters that are not empty. */
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

type FormResult = { readonly version: number | string; readonly effective?: Effective };

/** Where a form leads that has made this change. The page says what was done in its own words. */
export function doneAddress(
  path: string,
  { version, effective = "immediately" }: FormResult,
  query: FormTexts = {},
): string {
  return addressOf(path, { ...query, done: version, later: effective === "immediately" ? "" : "yes" });
}

/** Whether a form led here, and the object is as the form has left it: anybody can make an address. */
export function isDone(c: ConsoleContext, { version }: FormResult): boolean {
  return c.req.method === "GET" && c.req.query("done") === String(version);
}

/** Says when the change of the address takes effect. */
export function effectIn(c: ConsoleContext): Effective {
  return c.req.query("later") === undefined ? "immediately" : "within minutes";
}

export type SortedBy<Sort extends string> = ReturnType<typeof sortedBy<Sort>>;

/** Returns the address of the list sorted by a column. The sorted column reverses its order. */
export function sortedBy<Sort extends string>(
  c: ConsoleContext,
  { sort, direction }: { readonly sort: Sort; readonly direction: "asc" | "desc" },
) {
  return (name: Sort, first: "asc" | "desc" = "asc") => {
    const next = sort !== name ? first : direction === "asc" ? "desc" : "asc";
    return {
      href: addressOf(c.req.path, { ...c.req.query(), sort: name, direction: next, after: "" }),
      direction: sort === name ? (`${direction}ending` as const) : undefined,
    };
  };
}
