/** The parts of a list. What a list shows is in its address. */
import type { PropsWithChildren } from "hono/jsx";
import { Fields, type FieldsProps } from "./fields.tsx";
import { addressOf } from "./forms.ts";
import type { ConsoleContext } from "./page.tsx";

type Preset = readonly [text: string, href: string, isShown?: boolean];

export function Presets({ links }: { readonly links: readonly Preset[] }) {
  return (
    <p class="presets">
      {links.map(([text, href, isShown]) => (
        <a href={href} aria-current={isShown ? "true" : undefined}>
          {text}
        </a>
      ))}
    </p>
  );
}

type FilterProps<Name extends string> = PropsWithChildren<FieldsProps<Name>> & {
  readonly button?: string;
  readonly presets?: readonly Preset[];
};

/** A form whose answer is the list. Its children are parameters that the filters keep. */
export function Filters<Name extends string>({
  button = "Filter",
  presets,
  children,
  ...fields
}: FilterProps<Name>) {
  return (
    <search>
      <form class="filters" method="get">
        <Fields {...fields} isFilter />
        {children}
        <button type="submit" class="button">
          {button}
        </button>
      </form>
      {presets && <Presets links={presets} />}
    </search>
  );
}

type Pages = {
  readonly c: ConsoleContext;
  /** Where the next page goes on; null on the last page. */
  readonly next: string | number | null;
  /** The parameter with the place. */
  readonly by?: "after" | "before";
};

export function Pages({ c, next, by = "after" }: Pages) {
  const { [by]: place, ...shown } = c.req.query();
  if (place === undefined && next === null) return null;
  return (
    <nav class="pager" aria-label="Pages">
      {place !== undefined && <a href={addressOf(c.req.path, shown)}>First page</a>}
      {next !== null && (
        <a href={addressOf(c.req.path, { ...shown, [by]: next })} rel="next">
          Next page
        </a>
      )}
    </nav>
  );
}

/** The same list as a file. */
export function CsvLink({ c }: { readonly c: ConsoleContext }) {
  return (
    <a class="button" href={addressOf(c.req.path, { ...c.req.query(), after: "", format: "csv" })}>
      CSV
    </a>
  );
}
