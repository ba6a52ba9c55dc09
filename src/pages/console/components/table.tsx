/** A table that becomes a list of cards on a phone: each cell then carries its column's name. */
import type { ComponentChildren } from "preact";

export type Column<Row> = {
  readonly name: string;
  readonly isNumber?: boolean;
  readonly cell: (row: Row) => ComponentChildren;
};

type Props<Row> = {
  readonly caption: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly rowKey: (row: Row) => string;
  /** Shown instead of a table without rows. */
  readonly empty: string;
};

/** The first column names the row. */
export function Table<Row>({ caption, columns, rows, rowKey, empty }: Props<Row>) {
  if (rows.length === 0) return <p class="muted">{empty}</p>;
  const [first, ...others] = columns;
  return (
    <div class="scrollable">
      <table class="cards">
        <caption class="sr-only">{caption}</caption>
        <thead>
          <tr>
            {columns.map(({ name, isNumber }) => (
              <th key={name} scope="col" class={isNumber ? "number" : undefined}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={rowKey(row)}>
              <th scope="row">{first?.cell(row)}</th>
              {others.map(({ name, isNumber, cell }) => (
                <td key={name} data-column={name} class={isNumber ? "number" : undefined}>
                  {cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
