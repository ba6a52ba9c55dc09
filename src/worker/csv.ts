/** Tables as lines of CSV (RFC 4180), of which no spreadsheet runs a text as a formula. Pure. */

export type CsvCell = string | number | bigint | null | undefined;

/** The whole table, as a file. The first row has the names of the columns. */
export function toCsv(rows: readonly (readonly CsvCell[])[]): string {
  return csvLines(rows)
    .map((line) => `${line}\r\n`)
    .join("");
}

/** One line for each row, without its end. */
export function csvLines(rows: readonly (readonly CsvCell[])[]): string[] {
  return rows.map((row) => row.map(field).join(","));
}

/**
 * A sign with which a formula begins, also full-width, where a spreadsheet could begin a cell. With another list separator it
 * also splits quoted texts: their quotation marks are then not at the beginning of a cell. What it may ignore before the
 * sign is skipped.
 */
const FORMULA_SIGN = /(?<=(?:^|[,;\t\r\n])[\s\p{Cc}\p{Cf}"]*)[=+\-@＝＋－＠]/gu;

function field(value: CsvCell): string {
  if (value === null || value === undefined) return "";
  const text = typeof value === "string" ? value.replace(FORMULA_SIGN, "'$&") : String(value);
  // Programs that take several separators for one, as LibreOffice may, need the quotation marks for all of them.
  return /[",;\t\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
