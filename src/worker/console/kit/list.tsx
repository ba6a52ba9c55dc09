/** The parts of a list. The address of a list says what the list shows. */

import type { Child, PropsWithChildren } from "hono/jsx";
import type * as v from "valibot";
import type { Call } from "../../admin/call.ts";
import { fileOf } from "../../admin/serve.ts";
import type { ObjectSchema } from "../../text/check-schema.ts";
import { DAY_SECONDS, daysBefore } from "../../text/time.ts";
import { type Failure, failureOf } from "./failure.tsx";
import { Fields, type FieldsProps } from "./fields.tsx";
import { addressOf, queryOf, querySchemaOf } from "./forms.ts";
import type { FormTexts } from "./members.ts";
import { type ConsoleContext, page } from "./page.tsx";
import { Check, LinkButton, Notice, Submit } from "./ui.tsx";

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
  readonly c: ConsoleContext;
  readonly presets?: readonly Preset[];
};

/** A form for the filters of a list, closed on a phone. Its children are parameters that the filters keep. */
export function Filters<Name extends string>({ c, presets = [], children, ...fields }: FilterProps<Name>) {
  const { after: _, ...query } = c.req.query();
  const here = sorted(addressOf(c.req.path, query));
  const names: readonly string[] = fields.names.flat();
  const set = names.filter((name) => query[name]);
  // Links have parameters without a field, such as the place to go on from.
  const others = fields.failure?.problems.filter(({ member }) => !names.includes(member ?? "")) ?? [];
  return (
    <search>
      {others.length > 0 && (
        <Notice kind="bad">
          {others.map(({ member, reason }) => (
            <p>
              {member} {reason}
            </p>
          ))}
        </Notice>
      )}
      <details class="filters" open={fields.failure !== undefined}>
        <summary class="button small">Filters{set.length > 0 && ` (${set.length})`}</summary>
        <form method="get">
          <Fields {...fields} isFilter />
          {children}
          <Submit>Show</Submit>
        </form>
      </details>
      <Presets
        links={presets.map(([text, href, isShown = sorted(href) === here]) => [text, href, isShown])}
      />
    </search>
  );
}

type ListPage = {
  readonly title: string;
  readonly byDefault?: FormTexts;
  readonly filters: (failure: Failure) => Child;
};

/** Answers with a list or its file. If a filter is wrong, the page has the filters, and says so beside the field. */
export async function answerList<Query extends ObjectSchema, Given>(
  c: ConsoleContext,
  call: Call<ObjectSchema, Query, v.GenericSchema, Given>,
  show: (query: v.InferOutput<Query>) => Promise<Response>,
  { title, byDefault, filters }: ListPage,
): Promise<Response> {
  try {
    const query = queryOf(c, querySchemaOf(call), byDefault);
    return await (c.req.query("format") === "csv" ? fileOf(c, call, { query }) : show(query));
  } catch (thrown) {
    const failure = failureOf(thrown, title, c.req.query(), []);
    if (failure.problems.length === 0) throw thrown;
    return page(c, { title, status: failure.status }, filters(failure));
  }
}

/** Sorts the parameters of an address, which have any order. */
function sorted(address: string): string {
  const [path = "", query = ""] = address.split("?");
  return [path, ...query.split("&").sort()].join("&");
}

type NoRowsProps = PropsWithChildren<{ readonly c: ConsoleContext; readonly noun: string }>;

const NO_FILTERS = new Set(["sort", "direction", "after", "state"]);

/** The text of an empty list. Its children say what to do. */
export function NoRows({ c, noun, children }: NoRowsProps) {
  const isFiltered = Object.entries(c.req.query()).some(([name, text]) => text && !NO_FILTERS.has(name));
  return (
    <>
      {isFiltered ? `No ${noun} matches. ` : `There is no ${noun}. `}
      {children}
      {isFiltered && <LinkButton href={c.req.path}>Clear filters</LinkButton>}
    </>
  );
}

type Pages = {
  readonly c: ConsoleContext;
  /** Where the next page begins. Null on the last page. */
  readonly next: string | null;
};

export function Pages({ c, next }: Pages) {
  const { after, ...shown } = c.req.query();
  if (after === undefined && next === null) return null;
  return (
    <nav class="row" aria-label="Pages">
      {after !== undefined && <a href={addressOf(c.req.path, shown)}>First page</a>}
      {next !== null && (
        <a href={addressOf(c.req.path, { ...shown, after: next })} rel="next">
          Next page
        </a>
      )}
    </nav>
  );
}

type TickFormProps = PropsWithChildren<{
  readonly noun: "key" | "order";
  readonly buttons: Child;
  /** Other pages of the list have rows, too. */
  readonly hasMore?: boolean | undefined;
}>;

/**
 * A form without an action is sent to the address of the list, so the answer has the same filters. The buttons come
 * with the first tick.
 */
export function TickForm({ noun, buttons, hasMore = false, children }: TickFormProps) {
  return (
    <form method="post" class="ticks" data-noun={noun}>
      {/* A script shows it. */}
      <label class="check" hidden>
        <input type="checkbox" data-tick-all /> All on this page
      </label>
      {children}
      <div class="tick-bar row">
        {buttons}
        {hasMore && <Check name="all" label="All that match" />}
      </div>
    </form>
  );
}

type TickProps = {
  readonly id: string;
  readonly label: string;
  readonly isOff: boolean;
  readonly failure: Failure | undefined;
};

/** Ticks a row of a list whose form changes several rows. A form that was refused is shown with its ticks. */
export function Tick({ id, label, isOff, failure }: TickProps) {
  const isTicked = failure?.ticked.includes(id);
  return (
    <input type="checkbox" name="ids" value={id} aria-label={label} checked={isTicked} disabled={isOff} />
  );
}

/** Links to the same list as a file. */
export function CsvLink({ c }: { readonly c: ConsoleContext }) {
  return <a href={addressOf(c.req.path, { ...c.req.query(), after: "", format: "csv" })}>CSV</a>;
}

export const OF_THE_DAY = "In percent of the limit of each day";

type Range = { readonly from: string; readonly to: string };

/** `shown` are the texts of the filters, and `answered` is the range of the answer. */
export function rangePresets(c: ConsoleContext, shown: FormTexts, answered: Range) {
  const preset = (name: string, from: string, to = "") => {
    const isShown = answered.from.startsWith(from) && (shown.to ?? "") === to;
    return [name, addressOf(c.req.path, { ...shown, from, to, after: "" }), isShown] as const;
  };
  const thisMonth = firstOfMonth(daysBefore(0));
  return [
    preset("Today", daysBefore(0)),
    preset("Yesterday", daysBefore(1), daysBefore(0)),
    preset("7 days", daysBefore(6)),
    preset("30 days", daysBefore(29)),
    preset("This month", thisMonth),
    preset("Last month", firstOfMonth(daysBefore(Number(daysBefore(0).slice(-2)))), thisMonth),
  ];
}

function firstOfMonth(day: string): string {
  return `${day.slice(0, "2026-11-".length)}01`;
}

/** Returns how many days have a part in the range. */
export function daysIn({ from, to }: Range): number {
  return Math.ceil((Date.parse(to) - Date.parse(from)) / (DAY_SECONDS * 1000));
}
