/** Tables as CSV (RFC 4180). No spreadsheet runs a text in them as a formula. Pure. */

export type CsvCell = string | number | bigint | null | undefined;

/** The whole table, as a file. The first row has the names of the columns. */
export function toCsv(rows: readonly (readonly CsvCell[])[]): string {
  return rows.map((row) => `${row.map(field).join(",")}\r\n`).join("");
}

/**
 * An apostrophe before what begins a formula, also in full width (OWASP, CSV injection). Spreadsheets of some
 * countries separate cells by semicolons.
 */
function field(value: CsvCell): string {
  if (typeof value !== "string") return String(value ?? "");
  const text = value.replace(/^[=+\-@\t\r\n＝＋－＠]/, "'$&");
  return /[",;\t\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
