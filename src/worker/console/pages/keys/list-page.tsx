/** `/console/keys` lists keys and creates them. */
import { Hono } from "hono";
import { keyCalls } from "../../../admin/keys/calls.ts";
import { newKeyId } from "../../../admin/keys/mint.ts";
import { KEY_COLUMNS, type KeyView, keyQuery, type ListedKey } from "../../../admin/keys/schema.ts";
import { planCalls } from "../../../admin/plans/calls.ts";
import { MAX_KEYS_AT_ONCE } from "../../../admin/refresh-limiters.ts";
import { RIGHTS } from "../../../admin/says.ts";
import { inputOf } from "../../../admin/serve.ts";
import { requireWriter } from "../../../admin/sign-in/require-admin.ts";
import type { AppEnv } from "../../../context.ts";
import type { KEY_SORTS } from "../../../db/values.ts";
import { invalidRequest } from "../../../platform/errors.ts";
import { formatNumber, formatPercent, planName } from "../../../text/format.ts";
import { isInt64 } from "../../../text/int64.ts";
import { memberText } from "../../../text/says.ts";
import { daysBefore } from "../../../text/time.ts";
import { AsOf, Sparkline } from "../../kit/chart.tsx";
import { answerForm, type Failure, FailureNotice } from "../../kit/failure.tsx";
import {
  addressOf,
  ask,
  knownCustomers,
  queryOf,
  type SortedBy,
  sendForm,
  sortedBy,
} from "../../kit/forms.ts";
import { answerList, CsvLink, Filters, NoRows, Pages } from "../../kit/list.tsx";
import type { FormTexts } from "../../kit/members.ts";
import { type ConsoleContext, page } from "../../kit/page.tsx";
import {
  Badge,
  type Column,
  CreateKey,
  Customer,
  Day,
  NONE,
  Notice,
  Relative,
  Submit,
  Table,
} from "../../kit/ui.tsx";
import { secretPage } from "./issued-secret.tsx";
import { KeyFields, type KeyFieldsProps } from "./key-actions.tsx";
import { changeTicked, KeysForm, type SeveralOutcome, SeveralResult, withTicks } from "./several.tsx";

const PATH = "/console/keys";
const KEYS_PER_PAGE = 50;
const SPARKLINE_DAYS = 14;
const BY_DEFAULT = { days: String(SPARKLINE_DAYS) };
/** The filters are a part of the address, which can be logged. */
const NO_SECRET = {
  pattern: "(?!.*so[kl]_[0-9A-Za-z]{8}).*",
  placeholder: "name, customer …",
  title: "Or the last four of a secret. Paste a whole secret into the search field of the bar.",
};

const FILTERS = {
  schema: keyQuery,
  names: ["search", "status", "plan", "mayCancel", "expiringBefore", "unusedSince"],
  own: {
    search: { attributes: NO_SECRET },
    status: { choices: { usable: "works, or is banned for a time", "not-revoked": "all but revoked" } },
    mayCancel: { choices: RIGHTS },
  },
} as const;

export const keyListPages = new Hono<AppEnv>()
  .get("/", (c) =>
    answerList(c, keyCalls.list, () => showKeys(c), {
      ...{ title: "Keys", byDefault: BY_DEFAULT },
      filters: (failure) => <Filters {...{ c, ...FILTERS, failure }} />,
    }),
  )
  .post("/", (c) => changeTicked(c, showKeys, () => findMatching(c)))

  .get("/new", (c) => createPage(c))

  .post("/new", (c) =>
    answerForm(c, "create", createPage, async (typed) => {
      const choices = await choicesOf(c); // before the secret exists, which a failure would lose
      const made = await sendForm(c, keyCalls.create, typed);
      const texts = { customer: made.customer?.name ?? "", plan: made.plan };
      const next = <CreateForm id={newKeyId()} texts={texts} {...choices} />;
      return secretPage(c, { title: "Key created", made, next });
    }),
  );

async function findMatching(c: ConsoleContext): Promise<readonly string[]> {
  const query = { ...queryOf(c, keyQuery), after: undefined, limit: MAX_KEYS_AT_ONCE + 1 };
  const { keys } = await keyCalls.list.run(inputOf(c, { query }));
  if (keys.length <= MAX_KEYS_AT_ONCE) return keys.map(({ id }) => id);
  throw invalidRequest(`More than ${MAX_KEYS_AT_ONCE} keys match, and no more can change at once.`);
}

async function showKeys(c: ConsoleContext, { failure, made }: SeveralOutcome = {}) {
  const query = { ...queryOf(c, keyQuery, BY_DEFAULT), limit: KEYS_PER_PAGE };
  const { keys, next, ...counted } = await keyCalls.list.run(inputOf(c, { query }));
  const shown = c.req.query();
  const usable = { status: "usable" };
  const columns = columnsOf(sortedBy(c, query));
  const mayChange = !c.var.mayOnlyRead && keys.length > 0;
  const table = (
    <Table
      caption="Keys"
      columns={mayChange ? withTicks(columns, failure) : columns}
      rows={keys}
      empty={
        <NoRows c={c} noun="key">
          {isInt64(shown.search ?? "") && (
            <>
              <a href={`/console/orders/${shown.search}`}>Look for order {shown.search}</a>.{" "}
            </>
          )}
          {!c.var.mayOnlyRead && <CreateKey />}
        </NoRows>
      }
    />
  );
  return page(
    c,
    {
      title: "Keys",
      status: failure?.status ?? 200,
      actions: (
        <>
          <CsvLink c={c} />
          {!c.var.mayOnlyRead && <CreateKey />}
        </>
      ),
    },
    <>
      <FailureNotice failure={failure} />
      <SeveralResult {...{ c, failure, made }} />
      <Filters
        {...{ c, ...FILTERS }}
        texts={shown}
        presets={[
          ["All keys", PATH],
          ["Newest", addressOf(PATH, { sort: "created", direction: "desc" })],
          ["Banned", addressOf(PATH, { status: "banned" })],
          ["Most used today", addressOf(PATH, { sort: "used", direction: "desc" })],
          [
            "Expire within 30 days",
            addressOf(PATH, { ...usable, expiringBefore: daysBefore(-30), sort: "expiry" }),
          ],
          ["Unused for 30 days", addressOf(PATH, { ...usable, unusedSince: daysBefore(30) })],
        ]}
      >
        {shown.sort && <input type="hidden" name="sort" value={shown.sort} />}
        {shown.direction && <input type="hidden" name="direction" value={shown.direction} />}
      </Filters>
      {mayChange ? <KeysForm hasMore={next !== null || query.after !== undefined}>{table}</KeysForm> : table}
      {keys.length > 0 && (
        <p class="hint">
          <AsOf of={counted} />
        </p>
      )}
      <Pages c={c} next={next} />
    </>,
  );
}

/** A link may fill in the customer and the plan of a new key. */
function linkedIn(c: ConsoleContext): FormTexts {
  const { customer = "", plan = "free" } = c.req.query();
  return { customer, plan };
}

async function createPage(c: ConsoleContext, failure?: Failure) {
  const id = failure?.typed.id ?? newKeyId();
  requireWriter(c.var);
  const choices = await choicesOf(c);
  const isMade = failure?.status === 409 && (await ask(c, keyCalls.list, { ref: id })).keys.length > 0;
  return page(
    c,
    { title: "Create key", status: failure?.status ?? 200 },
    <CreateForm id={id} isMade={isMade} texts={linkedIn(c)} {...choices} failure={failure} isFocused />,
  );
}

async function choicesOf(c: ConsoleContext) {
  const [{ plans }, customers] = await Promise.all([planCalls.list.run(inputOf(c, {})), knownCustomers(c)]);
  return { plans, customers };
}

type NewKey = Omit<KeyFieldsProps, "isNew" | "failure"> & {
  readonly id: string;
  /** The form was sent before, and has made the key. */
  readonly isMade?: boolean;
  readonly failure?: Failure | undefined;
};

function CreateForm({ id, isMade, failure, ...fields }: NewKey) {
  return (
    <form method="post" action={`${PATH}/new`} class="panel">
      <FailureNotice failure={failure} />
      {isMade && (
        <Notice kind="warn">
          <a href={`${PATH}/${id}`}>Look at the key</a>: if its secret is lost, rotate the key.
        </Notice>
      )}
      <input type="hidden" name="id" value={id} />
      <KeyFields isNew {...fields} failure={failure} />
      <Submit tone="primary">Create key</Submit>
    </form>
  );
}

function columnsOf(by: SortedBy<(typeof KEY_SORTS)[number]>): Column<ListedKey>[] {
  const columns = KEY_COLUMNS.map(({ member, label, ...column }) => ({
    ...{ ...column, name: label, cell: (key: ListedKey) => memberText(member, key[member]) },
    ...cellsBy(by)[member],
  }));
  const lastDays = {
    name: `${SPARKLINE_DAYS} days`,
    cell: ({ days = [] }: ListedKey) => <Sparkline days={days} />,
  };
  return columns.flatMap((column) => (column.name === "Today" ? [column, lastDays] : column));
}

type Cells = { readonly [Member in keyof KeyView]?: Omit<Column<ListedKey>, "name"> };

/** The columns that are more than the text of their member. */
function cellsBy(by: SortedBy<(typeof KEY_SORTS)[number]>): Cells {
  return {
    name: { sort: by("name"), cell: ({ id, name }) => <a href={`${PATH}/${id}`}>{name}</a> },
    customer: {
      isClear: true,
      saysNothing: ({ customer }) => customer === null,
      sort: by("customer"),
      cell: ({ customer }) => <Customer of={customer} />,
    },
    status: {
      isClear: true,
      saysNothing: ({ status, mayCancel }) => status === "active" && mayCancel,
      cell: (key) => <StatusOf {...key} />,
    },
    plan: { isClear: true, cell: ({ plan }) => planName(plan) },
    nextPlan: {
      saysNothing: ({ nextPlan }) => nextPlan === null,
      cell: ({ nextPlan }) => (nextPlan === null ? NONE : memberText("nextPlan", nextPlan)),
    },
    admittedToday: {
      isNumber: true,
      saysNothing: ({ admittedToday }) => admittedToday === 0,
      sort: by("used", "desc"),
      cell: ({ admittedToday, limits }) =>
        admittedToday > 0
          ? `${formatNumber(admittedToday)} (${formatPercent(admittedToday, limits.requestsPerDay)})`
          : NONE,
    },
    lastUsedDay: { cell: (key) => <LastUse of={key} /> },
    expiresAt: {
      saysNothing: ({ expiresAt, status }) => expiresAt === null || status === "revoked",
      sort: by("expiry"),
      cell: ({ expiresAt, status }) =>
        expiresAt === null || status === "revoked" ? NONE : <Relative iso={expiresAt} />,
    },
    secrets: {
      cell: ({ secrets }) => <code>{secrets.map(({ hint }) => `…${hint.slice(-4)}`).join(" ")}</code>,
    },
  };
}

/** To the minute, unless the secret that was used then is no longer kept. */
function LastUse({ of: { lastUsedDay, secrets } }: { readonly of: KeyView }) {
  const [last] = secrets
    .flatMap(({ lastUsedAt }) => lastUsedAt ?? [])
    .toSorted()
    .reverse();
  return last?.startsWith(lastUsedDay ?? "") ? <Relative iso={last} /> : <Day iso={lastUsedDay} />;
}

function StatusOf({ status, bannedUntil, mayCancel }: KeyView) {
  return (
    <>
      <Badge status={status} />
      {status === "banned" && bannedUntil !== null && (
        <>
          {" ends "}
          <Relative iso={bannedUntil} />
        </>
      )}
      {!mayCancel && (
        <>
          {" "}
          <Badge status="only lists" />
        </>
      )}
    </>
  );
}
