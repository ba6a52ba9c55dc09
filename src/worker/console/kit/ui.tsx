/** The parts that the console's pages are made of. They need no script. */
import type { Child, PropsWithChildren } from "hono/jsx";
import type * as v from "valibot";
import type { liveWindow, ShownCustomer } from "../../admin/http/answer-schemas.ts";
import { formatDay, formatNumber, formatTime, relativeTo } from "../../text/format.ts";
import { isDate } from "../../text/time.ts";
import { WAS } from "./forms.ts";
import type { FormTexts } from "./members.ts";

/** Stands where there is no value. A list leaves the cell out on a phone. */
export const NONE = <span class="none">–</span>;

export function Time({ iso }: { readonly iso: string | null }) {
  return iso === null ? NONE : <time datetime={iso}>{formatTime(iso)}</time>;
}

/** Shows a day in a narrow column. The title has the exact time. */
export function Day({ iso }: { readonly iso: string | null }) {
  if (iso === null) return NONE;
  return (
    <time datetime={iso} title={isDate(iso) ? undefined : formatTime(iso)}>
      {formatDay(iso)}
    </time>
  );
}

type RelativeProps = {
  readonly iso: string;
  /** What is said once the time has come. Otherwise how long ago that was. */
  readonly then?: string;
};

/** Shows the time that is left or has passed. A script keeps it up to date. */
export function Relative({ iso, then = "" }: RelativeProps) {
  return (
    <time datetime={iso} title={formatTime(iso)} data-relative={then}>
      {relativeTo(Date.now(), iso, then)}
    </time>
  );
}

/** Normal states have no colour, so that the eye finds the others. */
const TONES: Readonly<Record<string, string>> = {
  failing: "warn",
  expired: "warn",
  disabled: "warn",
  banned: "bad",
  revoked: "bad",
  erased: "bad",
  failed: "bad",
};

export function Badge({ status }: { readonly status: string }) {
  return <span class={`badge ${TONES[status] ?? "quiet"} ${status}`}>{status}</span>;
}

export type Column<Row> = {
  readonly name: string;
  readonly isNumber?: boolean;
  /** The cell needs no name before it on a phone. */
  readonly isClear?: boolean;
  /** The column is left out where there is little room. */
  readonly isMinor?: boolean;
  /** The column is left out of a list in which each cell says nothing. */
  readonly saysNothing?: (row: Row) => boolean;
  /** What the name means. */
  readonly about?: string;
  /** The address of the list sorted by this column. */
  readonly sort?: { readonly href: string; readonly direction: "ascending" | "descending" | undefined };
  readonly cell: (row: Row) => Child;
};

type TableProps<Row> = {
  readonly caption: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly empty: Child;
};

/** On a phone each row has two lines. The first column names the row. */
export function Table<Row>({ caption, columns: all, rows, empty }: TableProps<Row>) {
  if (rows.length === 0) return <p class="row muted">{empty}</p>;
  const columns = all.filter(({ saysNothing }) => saysNothing === undefined || !rows.every(saysNothing));
  return (
    <section class="scrollable" tabindex={0} aria-label={caption}>
      <table>
        <caption class="sr-only">{caption}</caption>
        <thead>
          <tr>
            {columns.map((column) => (
              <th scope="col" class={classOf(column)} title={column.about} aria-sort={column.sort?.direction}>
                {column.sort ? <a href={column.sort.href}>{column.name}</a> : column.name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr>
              {columns.map((column, i) =>
                i === 0 ? (
                  <th scope="row">{column.cell(row)}</th>
                ) : (
                  <td class={classOf(column)} data-column={column.isClear ? undefined : column.name}>
                    {column.cell(row)}
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

function classOf<Row>({ isNumber, isMinor }: Column<Row>): string | undefined {
  return [isNumber && "number", isMinor && "minor"].filter(Boolean).join(" ") || undefined;
}

/** A column of figures, which is left out where all are 0. */
export function countColumn<Row>(
  name: string,
  countOf: (row: Row) => number,
  more: Pick<Column<Row>, "sort" | "about"> = {},
): Column<Row> {
  return {
    ...more,
    ...{ name, isNumber: true, saysNothing: (row) => countOf(row) === 0 },
    cell: (row) => <ShownCount value={countOf(row)} />,
  };
}

/** A figure whose zero says nothing on a phone. */
export function ShownCount({ value }: { readonly value: number }) {
  return <span class={value === 0 ? "none" : undefined}>{formatNumber(value)}</span>;
}

export function customerAddress(id: string): string {
  return `/console/customers/${id}`;
}

type Tone = "primary" | "danger" | "small" | "";

export function Submit({ tone = "", children }: PropsWithChildren<{ readonly tone?: Tone }>) {
  return (
    <button type="submit" class={`button ${tone}`.trimEnd()}>
      {children}
    </button>
  );
}

export function LinkButton({ href, children }: PropsWithChildren<{ readonly href: string }>) {
  return (
    <a class="button" href={href}>
      {children}
    </a>
  );
}

/** Copies the text of the element with the id `of`. A script shows the button. */
export function Copy({ of, label = "Copy" }: { readonly of: string; readonly label?: string }) {
  return (
    <button type="button" class="button small" data-copy={of} hidden>
      {label}
    </button>
  );
}

/** A key or a link that is shown once. */
export function ShownOnce({ text }: { readonly text: string }) {
  return (
    <p class="secret row">
      <code id="secret" tabindex={0}>
        {text}
      </code>
      <Copy of="secret" />
    </p>
  );
}

export function CreateKey({ href = "/console/keys/new" }: { readonly href?: string }) {
  return (
    <a class="button primary" href={href}>
      Create key
    </a>
  );
}

/** Links to the customer's page. */
export function Customer({ of }: { readonly of: Pick<ShownCustomer, "id" | "name"> | null }) {
  if (of === null) return <span class="none">no customer</span>;
  return <a href={customerAddress(of.id)}>{of.name}</a>;
}

/** Escapes `?` and `&` of an address, which would begin further fields of the mail. */
export function MailTo({ address }: { readonly address: string }) {
  return <a href={`mailto:${encodeURIComponent(address).replace("%40", "@")}`}>{address}</a>;
}

type Facts = readonly (readonly [name: string, value: Child])[];

/** A fact without a value is left out. */
export function Definitions({ facts }: { readonly facts: Facts }) {
  return (
    <dl class="facts">
      {facts.map(
        ([name, value]) =>
          value && (
            <div>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ),
      )}
    </dl>
  );
}

type LiveProps = PropsWithChildren<{ readonly seconds: number }>;

/** A script asks for the page again, this often while it is seen, and shows the part as it is then. */
export function Live({ seconds, children }: LiveProps) {
  const now = new Date().toISOString();
  return (
    <div data-live={seconds}>
      {children}
      <p class="hint">
        As of <time datetime={now}>{now.slice(11, 19)} UTC</time>
      </p>
    </div>
  );
}

export function Notice({ kind, children }: PropsWithChildren<{ readonly kind: "good" | "warn" | "bad" }>) {
  return (
    <div class={`notice ${kind}`} role={kind === "bad" ? "alert" : "status"}>
      {children}
    </div>
  );
}

/** A paragraph for each line. */
export function Lines({ text }: { readonly text: string }) {
  return (
    <div>
      {text.split("\n").map((line) => (
        <p>{line}</p>
      ))}
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

type Window = v.InferOutput<typeof liveWindow> | null;
type Windows = { readonly of: { readonly minute: Window; readonly day: Window }; readonly whose?: string };

/** How much of its limits a key or a customer has used, at this moment. */
export function WindowGauges({ of: { minute, day }, whose = "" }: Windows) {
  return (
    <>
      {[["This minute", minute] as const, ["Today", day] as const].map(
        ([name, window]) =>
          window !== null && (
            <Gauge name={`${name}${whose}`} used={window.used} limit={window.limit}>
              Resets <Relative iso={window.resetsAt} />
            </Gauge>
          ),
      )}
    </>
  );
}

type BasisProps = {
  readonly version: number | string | null;
  readonly texts?: FormTexts | undefined;
};

/** Hidden fields: the version of the object, and the texts that the fields showed at first. */
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

export type Attributes = Readonly<Record<string, string | number | boolean | undefined>>;

type FieldProps = {
  readonly name: string;
  readonly label: string;
  readonly value?: string | undefined;
  readonly hint?: Child;
  readonly suggestions?: readonly string[] | undefined;
  /** Why the service refused the text. */
  readonly problem?: string | undefined;
  /** The type of an input, or `lines`. */
  readonly type?: string;
  /** The field is a choice. */
  readonly options?: readonly (readonly [value: string, text: string])[] | undefined;
  /** Further attributes of the input. */
  readonly attributes?: Attributes;
  /** Distinguishes the fields of several forms on a page. */
  readonly form?: string | undefined;
};

export function Field({ name, label, value = "", type = "text", options, ...field }: FieldProps) {
  const id = `${field.form ?? "form"}-${name}`;
  const { hint, problem, suggestions } = field;
  const describes = [problem && `${id}-problem`, hint && `${id}-hint`].filter(Boolean).join(" ");
  const described = describes === "" ? {} : { "aria-describedby": describes };
  const invalid = problem === undefined ? {} : { "aria-invalid": "true" };
  const known = suggestions && { list: `${id}-known` };
  const shared = { id, name, autocomplete: "off", ...known, ...described, ...invalid, ...field.attributes };
  const choices = options?.map(([each, text]) => (
    <option value={each} selected={each === value}>
      {text}
    </option>
  ));
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {choices && <select {...shared}>{choices}</select>}
      {!choices && type === "lines" && <textarea {...shared}>{value}</textarea>}
      {!choices && type !== "lines" && <input type={type} value={value} {...shared} />}
      {suggestions && (
        <datalist id={`${id}-known`}>
          {suggestions.map((text) => (
            <option value={text} />
          ))}
        </datalist>
      )}
      {problem !== undefined && (
        <p class="problem" id={`${id}-problem`}>
          {problem}
        </p>
      )}
      {hint !== undefined && (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
    </div>
  );
}

export function Check({ name, label, attributes = {} }: Pick<FieldProps, "name" | "label" | "attributes">) {
  return (
    <label class="check">
      <input type="checkbox" name={name} value="true" {...attributes} /> {label}
    </label>
  );
}
