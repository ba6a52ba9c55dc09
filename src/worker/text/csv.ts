/** Tables as CSV (RFC 4180). No spreadsheet runs a cell as a formula. */

export type CsvCell = string | number | null | undefined;

/** Returns the text of a file. The first row has the names of the columns. */
export function toCsv(rows: readonly (readonly CsvCell[])[]): string {
  return rows.map((row) => `${row.map(field).join(",")}\r\n`).join("");
}

/**
 * Puts an apostrophe before a text that begins a formula, also in full width (OWASP, CSV injection). In some
 * countries spreadsheets separate cells by semicolons. An integer of 64 bits is a text here, and no formula.
 */
function field(value: CsvCell): string {
  if (typeof value !== "string") return String(value ?? "");
  const text = /^-?\d+$/.test(value) ? value : value.replace(/^[=+\-@\t\r\n＝＋－＠]/, "'$&");
  return /[",;\t\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
