/** `/console/keys`: the list of keys, and the form that creates one. */
import { Hono } from "hono";
import { type Failure, FailureNotice, failureOf } from "../../console/failure.tsx";
import { formatNumber, formatPercent } from "../../console/format.ts";
import { accept, addressOf, formOf, queryOf, sortLinks, type Typed } from "../../console/forms.ts";
import { type ConsoleContext, page } from "../../console/page.tsx";
import {
  Badge,
  type Column,
  Day,
  Field,
  Notice,
  optionsOf,
  Pager,
  Relative,
  Select,
  Table,
} from "../../console/ui.tsx";
import type { AppEnv } from "../../context.ts";
import { openDatabase } from "../../db/database.ts";
import { KEY_STATUSES, LOCATIONS, PLAN_IDS } from "../../db/values.ts";
import { DAY_SECONDS, dayName, nowSeconds } from "../../time.ts";
import { fromCursor, isSortValue, toCursor } from "../http/cursor.ts";
import { listPlans } from "../plans/sql.ts";
import { issueKey } from "./change.ts";
import { KeyFields, membersOf } from "./fields.tsx";
import { listKeys } from "./list-sql.ts";
import { newKeyId } from "./mint.ts";
import type { KeyView } from "./schema.ts";
import { keyQuery, newKey } from "./schema.ts";
import { secretPage } from "./secret-page.tsx";

const PATH = "/console/keys";
const KEYS_PER_PAGE = "50";
/** The filters are sent in the address, which can be logged. */
const NO_SECRET = "Paste a secret into the search field of the bar.";

export const keyListPages = new Hono<AppEnv>()
  .get("/", async (c) => {
    const query = queryOf(c, keyQuery);
    const { after, sort, direction } = query;
    const order = `${sort} ${direction}`;
    const now = nowSeconds();
    const limit = Number(KEYS_PER_PAGE);
    const filter = { ...query, limit, after: fromCursor(order, after, isSortValue) };
    const { keys, next } = await listKeys(openDatabase(c.env.DB), filter, now);
    const shown = c.req.query();
    return page(
      c,
      {
        title: "Keys",
        actions: (
          <a class="button primary" href={`${PATH}/new`}>
            Create key
          </a>
        ),
      },
      <>
        <Filters shown={shown} />
        <Table
          caption="Keys"
          columns={columnsOf(shown, sort, direction)}
          rows={keys}
          empty="No key matches."
        />
        <p class="hint">
          Used today: requests in the hours that are over, and how much of the daily limit they are.
        </p>
        <Pager
          first={after === undefined ? undefined : addressOf(PATH, { ...shown, after: "" })}
          next={next === null ? undefined : addressOf(PATH, { ...shown, after: toCursor(order, next) })}
        />
      </>,
    );
  })

  .get("/new", (c) => createPage(c, newKeyId()))

  .post("/new", async (c) => {
    const typed = await formOf(c);
    const { id = "", location = "" } = typed;
    try {
      const request = accept(c, newKey, {
        ...membersOf(typed),
        id,
        location: location === "" ? null : location,
      });
      const key = await issueKey({ env: c.env, author: c.var.author, body: request });
      const { requestsPerMinute, requestsPerDay } = key.limits;
      const limits = `${formatNumber(requestsPerMinute)} requests a minute and ${formatNumber(requestsPerDay)} a day`;
      return secretPage(c, "Key created", key, `is on plan ${key.plan}, with ${limits}.`);
    } catch (thrown) {
      return createPage(c, id, failureOf(thrown, "create", typed));
    }
  });

async function createPage(c: ConsoleContext, id: string, failure?: Failure) {
  const plans = await listPlans(openDatabase(c.env.DB));
  return page(
    c,
    { title: "Create key", status: failure?.status ?? 200 },
    <form method="post" class="panel">
      <FailureNotice failure={failure} />
      {failure?.status === 409 && (
        <Notice kind="warn">
          <p>
            <a href={`${PATH}/${id}`}>Look at the key</a>: if its secret is lost, rotate the key.
          </p>
        </Notice>
      )}
      <input type="hidden" name="id" value={id} />
      <KeyFields texts={failure?.typed ?? { plan: "free" }} plans={plans} />
      <Select
        name="location"
        label="Location of its limiter"
        hint="Empty: near the key's first request. Fixed once the key is created."
        value={failure?.typed.location ?? ""}
        options={[["", "Near the first request"], ...optionsOf(LOCATIONS)]}
      />
      <button type="submit" class="button primary">
        Create key
      </button>
    </form>,
  );
}

function Filters({ shown }: { readonly shown: Typed }) {
  const soon = dayName(nowSeconds() + 30 * DAY_SECONDS);
  const before = dayName(nowSeconds() - 30 * DAY_SECONDS);
  return (
    <search>
      <form class="filters" method="get">
        <Field
          name="search"
          label="Name, owner, id, last four"
          type="search"
          value={shown.search}
          attributes={{ pattern: "(?!.*sok_[0-9A-Za-z]{8}).*", title: NO_SECRET }}
        />
        <Select
          name="status"
          label="Status"
          value={shown.status}
          options={[
            ["", "All"],
            ["usable", "active or banned"],
            ...optionsOf([...KEY_STATUSES, "expired", "banned"]),
          ]}
        />
        <Select name="plan" label="Plan" value={shown.plan} options={[["", "All"], ...optionsOf(PLAN_IDS)]} />
        <Field name="expiringBefore" label="Expires before" type="date" value={shown.expiringBefore} />
        <Field name="unusedSince" label="Unused since" type="date" value={shown.unusedSince} />
        {shown.sort && <input type="hidden" name="sort" value={shown.sort} />}
        {shown.direction && <input type="hidden" name="direction" value={shown.direction} />}
        <button type="submit" class="button">
          Filter
        </button>
      </form>
      <p class="presets">
        <a href={PATH}>All keys</a>
        <a href={addressOf(PATH, { status: "banned" })}>Banned</a>
        <a href={addressOf(PATH, { sort: "used", direction: "desc" })}>Most used today</a>
        <a href={addressOf(PATH, { status: "usable", expiringBefore: soon, sort: "expiry" })}>
          Expire within 30 days
        </a>
        <a href={addressOf(PATH, { status: "usable", unusedSince: before })}>Unused for 30 days</a>
      </p>
    </search>
  );
}

type Sort = "created" | "name" | "owner" | "expiry" | "used";

function columnsOf(shown: Typed, sort: Sort, direction: "asc" | "desc"): Column<KeyView>[] {
  const by = sortLinks(PATH, shown, { sort, direction });
  return [
    { name: "Name", sort: by("name"), cell: ({ id, name }) => <a href={`${PATH}/${id}`}>{name}</a> },
    { name: "Owner", sort: by("owner"), cell: (key) => key.ownerName ?? key.ownerEmail ?? "–" },
    { name: "Status", cell: (key) => <StatusOf {...key} /> },
    { name: "Plan", cell: ({ plan }) => plan },
    {
      name: "Used today",
      isNumber: true,
      sort: by("used", "desc"),
      cell: ({ admittedToday, limits }) =>
        `${formatNumber(admittedToday)} (${formatPercent(admittedToday, limits.requestsPerDay)})`,
    },
    { name: "Expires", sort: by("expiry"), cell: ({ expiresAt }) => <Day iso={expiresAt} /> },
    { name: "Created", sort: by("created", "desc"), cell: ({ createdAt }) => <Day iso={createdAt} /> },
  ];
}

function StatusOf({ status, bannedUntil }: KeyView) {
  return (
    <>
      <Badge status={status} />
      {status === "banned" && bannedUntil !== null && (
        <>
          {" ends "}
          <Relative iso={bannedUntil} />
        </>
      )}
    </>
  );
}
