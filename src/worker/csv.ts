/** Tables as lines of CSV (RFC 4180). Pure. */

export type CsvCell = string | number | null | undefined;

/** One line for each row, without its end. The first row has the names of the columns. */
export function csvLines(rows: readonly (readonly CsvCell[])[]): string[] {
  return rows.map((row) => row.map(field).join(","));
}

function field(value: CsvCell): string {
  if (value === null || value === undefined) return "";
  // A spreadsheet would run a text that begins like this as a formula: also after white space, and with full-width signs.
  const text = typeof value === "string" ? value.replace(/^(?=[=+\-@＝＋－＠\t\r\n])/, "'") : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
