/** Tables as CSV (RFC 4180). Pure. */

export type CsvCell = string | number | null | undefined;

/** The first row has the names of the columns. Every line ends with CRLF. */
export function csvText(rows: readonly (readonly CsvCell[])[]): string {
  return rows.map((row) => `${row.map(csvField).join(",")}\r\n`).join("");
}

export function csvField(value: CsvCell): string {
  if (value === null || value === undefined) return "";
  // A spreadsheet would run a text that begins like this as a formula.
  const text = typeof value === "string" ? value.replace(/^(?=[=+\-@])/, "'") : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
