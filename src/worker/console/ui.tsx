/** The parts that the console's pages are made of. They need no script. */
import type { Child, PropsWithChildren } from "hono/jsx";
import { formatDay, formatNumber, formatRelative, formatTime } from "./format.ts";
import { type Typed, WAS } from "./forms.ts";

export function Time({ iso }: { readonly iso: string | null }) {
  return iso === null ? <>–</> : <time datetime={iso}>{formatTime(iso)}</time>;
}

/** For narrow columns. The exact time is its title. */
export function Day({ iso }: { readonly iso: string | null }) {
  return iso === null ? (
    <>–</>
  ) : (
    <time datetime={iso} title={formatTime(iso)}>
      {formatDay(iso)}
    </time>
  );
}

/** A script keeps the time that is left up to date. */
export function Relative({ iso }: { readonly iso: string }) {
  return (
    <time datetime={iso} title={formatTime(iso)} data-relative>
      {formatRelative(iso, Date.now())}
    </time>
  );
}

const TONES: Readonly<Record<string, string>> = {
  active: "good",
  delivered: "good",
  shipped: "good",
  pending: "warn",
  expired: "warn",
  disabled: "warn",
  banned: "bad",
  revoked: "bad",
  failed: "bad",
};

export function Badge({ status }: { readonly status: string }) {
  return <span class={`badge ${TONES[status] ?? ""}`}>{status}</span>;
}

export type Column<Row> = {
  readonly name: string;
  readonly isNumber?: boolean;
  /** The address of the list sorted by this column. */
  readonly sort?: { readonly href: string; readonly direction: "ascending" | "descending" | undefined };
  readonly cell: (row: Row) => Child;
};

type TableProps<Row> = {
  readonly caption: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly empty: string;
};

/** On a phone each row is a card. The first column names the row. */
export function Table<Row>({ caption, columns, rows, empty }: TableProps<Row>) {
  if (rows.length === 0) return <p class="muted">{empty}</p>;
  return (
    <section class="scrollable" tabindex={0} aria-label={caption}>
      <table>
        <caption class="sr-only">{caption}</caption>
        <thead>
          <tr>
            {columns.map(({ name, isNumber, sort }) => (
              <th scope="col" class={isNumber ? "number" : undefined} aria-sort={sort?.direction}>
                {sort ? <a href={sort.href}>{name}</a> : name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr>
              {columns.map(({ name, isNumber, cell }, i) =>
                i === 0 ? (
                  <th scope="row">{cell(row)}</th>
                ) : (
                  <td class={isNumber ? "number" : undefined} data-column={name}>
                    {cell(row)}
                  </td>
                ),
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

/** `next`: the address of the next page. */
export function Pager({
  first,
  next,
}: {
  readonly first?: string | undefined;
  readonly next?: string | undefined;
}) {
  if (first === undefined && next === undefined) return null;
  return (
    <nav class="pager" aria-label="Pages">
      {first !== undefined && <a href={first}>First page</a>}
      {next !== undefined && (
        <a href={next} rel="next">
          Next page
        </a>
      )}
    </nav>
  );
}

export function Facts({ facts }: { readonly facts: readonly (readonly [name: string, value: Child])[] }) {
  return (
    <dl class="facts">
      {facts.map(([name, value]) => (
        <div>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

export function Notice({ kind, children }: PropsWithChildren<{ readonly kind: "good" | "warn" | "bad" }>) {
  return (
    <div class={`notice ${kind}`} role={kind === "bad" ? "alert" : "status"}>
      {children}
    </div>
  );
}

type GaugeProps = {
  readonly name: string;
  readonly used: number;
  readonly limit: number;
  readonly children?: Child;
};

export function Gauge({ name, used, limit, children }: GaugeProps) {
  return (
    <div class="tile">
      <h2>{name}</h2>
      <p>
        <strong>{formatNumber(used)}</strong> of {formatNumber(limit)}
      </p>
      <meter
        min={0}
        max={limit}
        low={limit * 0.8}
        high={limit * 0.95}
        optimum={0}
        value={used}
        aria-label={name}
      />
      <p class="muted">{children}</p>
    </div>
  );
}

type BasisProps = { readonly version: number | string | null; readonly texts?: Typed | undefined };

/** What a form is based on: the version of its object, and the texts that its fields showed at first. */
export function Basis({ version, texts = {} }: BasisProps) {
  return (
    <>
      <input type="hidden" name="version" value={String(version)} />
      {Object.entries(texts).map(([name, text]) => (
        <input type="hidden" name={WAS + name} value={text} />
      ))}
    </>
  );
}

type FieldProps = {
  readonly name: string;
  readonly label: string;
  readonly value?: string | undefined;
  readonly hint?: string | undefined;
  readonly type?: string;
  /** Further attributes of the input. */
  readonly attributes?: Readonly<Record<string, string | number | boolean>>;
  /** Distinguishes the fields of several forms on a page. */
  readonly form?: string;
};

function fieldId({ form = "form", name }: Pick<FieldProps, "form" | "name">): string {
  return `${form}-${name}`;
}

function Labelled({ label, hint, children, ...field }: PropsWithChildren<FieldProps>) {
  const id = fieldId(field);
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children}
      {hint !== undefined && (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
    </div>
  );
}

function common(field: FieldProps) {
  const id = fieldId(field);
  return {
    id,
    name: field.name,
    autocomplete: "off",
    ...(field.hint === undefined ? {} : { "aria-describedby": `${id}-hint` }),
    ...field.attributes,
  };
}

export function Field(field: FieldProps) {
  return (
    <Labelled {...field}>
      <input type={field.type ?? "text"} value={field.value ?? ""} {...common(field)} />
    </Labelled>
  );
}

export function TextArea(field: FieldProps) {
  return (
    <Labelled {...field}>
      <textarea rows={3} {...common(field)}>
        {field.value ?? ""}
      </textarea>
    </Labelled>
  );
}

type Option = readonly [value: string, text: string];

export function Select({ options, ...field }: FieldProps & { readonly options: readonly Option[] }) {
  return (
    <Labelled {...field}>
      <select {...common(field)}>
        {options.map(([value, text]) => (
          <option value={value} selected={value === (field.value ?? "")}>
            {text}
          </option>
        ))}
      </select>
    </Labelled>
  );
}

export function Check({ name, label, attributes = {} }: Pick<FieldProps, "name" | "label" | "attributes">) {
  return (
    <label class="check">
      <input type="checkbox" name={name} value="true" {...attributes} /> {label}
    </label>
  );
}

export function optionsOf(values: readonly string[]): Option[] {
  return values.map((value) => [value, value]);
}
