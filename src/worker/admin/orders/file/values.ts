/** The forms in which programs write the values of orders. What has one meaning only is read. Pure. */
import { isRecord } from "../../../text/check-schema.ts";
import { parseRfc3339 } from "../../../text/time.ts";
import { isNormal, LEFT_OUT } from "../loaded-order.ts";

/** A form that the result of a load counts, because the program may have meant something else. */
export type Form =
  | "a day without a time"
  | "digits beyond milliseconds"
  | "complete is 1"
  | "complete is empty"
  | "complete is something else";

/** PostgreSQL writes t and f, most databases 1 and 0, spreadsheets and data frames capitals. */
const BOOLEANS: Readonly<Record<string, boolean>> = {
  ...{ true: true, t: true, yes: true, y: true, "1": true },
  ...{ false: false, f: false, no: false, n: false, "0": false },
};

/**
 * Returns an order in the forms of the admin API, and the forms that were read in another way. What cannot be
 * read stays as it is. An empty text is an empty cell, which is null.
 */
export function readValues(value: unknown): { readonly value: unknown; readonly forms: readonly Form[] } {
  if (!isRecord(value)) return { value, forms: [] };
  const forms: Form[] = [];
  const members = Object.entries(value).flatMap(([name, each]) =>
    LEFT_OUT.includes(name) ? [] : [[name, readValue(name, each, forms)] as const],
  );
  return { value: Object.fromEntries(members), forms };
}

function readValue(name: string, value: unknown, forms: Form[]): unknown {
  if (name === "complete" && value !== null) forms.push(formOfComplete(value));
  if (typeof value !== "string") return value;
  if (value === "") return null;
  if (name === "complete") return BOOLEANS[value.toLowerCase()] ?? value;
  return name === "shipDate" ? (readShipDate(value, forms) ?? value) : value;
}

function formOfComplete(value: unknown): Form {
  if (value === "") return "complete is empty";
  return value === "1" ? "complete is 1" : "complete is something else";
}

const DATE_TIME =
  /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d)(:\d\d)?(?:\.(\d+))?(?: ?(?:Z|UTC|GMT)| ?([+-]\d\d)(?::?(\d\d))?(?: UTC)?)$/i;

/**
 * Reads what PostgreSQL (`+00`), DuckDB, polars and Ruby (`+0100`, also behind a blank), BigQuery (`UTC`) and
 * d3 (no seconds) write. A day is its midnight in UTC.
 */
function readShipDate(text: string, forms: Form[]): string | undefined {
  if (isNormal(text)) return text;
  const day = /^\d{4}-\d\d-\d\d$/.test(text);
  const parts = DATE_TIME.exec(day ? `${text} 00:00Z` : text);
  if (!parts) return undefined;
  const [, date, minute, second = ":00", fraction = "0", hours = "+00", minutes = "00"] = parts;
  const atMs = parseRfc3339(`${date}T${minute}${second}.${fraction}${hours}:${minutes}`);
  if (atMs === undefined) return undefined;
  if (day) forms.push("a day without a time");
  if (/[1-9]/.test(fraction.slice(3))) forms.push("digits beyond milliseconds");
  return new Date(atMs).toISOString();
}
