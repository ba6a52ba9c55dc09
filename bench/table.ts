/** A table in Markdown, which a terminal shows and docs/performance.md has. */

export type Column<T> = { readonly head: string; readonly cell: (row: T) => string };

/** The first column is text, the others are aligned to the right. */
export function tableOf<T>(columns: readonly Column<T>[], rows: readonly T[]): string {
  const cells = [columns.map(({ head }) => head), ...rows.map((row) => columns.map(({ cell }) => cell(row)))];
  const widths = columns.map((_, i) => Math.max(3, ...cells.map((line) => line[i]?.length ?? 0)));
  const pad = (text: string, i: number) =>
    i === 0 ? text.padEnd(widths[i] ?? 0) : text.padStart(widths[i] ?? 0);
  const rule = widths.map((width, i) => (i === 0 ? "-".repeat(width) : `${"-".repeat(width - 1)}:`));
  const [head = [], ...body] = cells.map((line) => line.map(pad));
  return [head, rule, ...body].map((line) => `| ${line.join(" | ")} |`).join("\n");
}
