/** `/console/find` finds keys, customers, orders and pages by one text, also while somebody types. */
import * as v from "valibot";
import { refuseAdminToken } from "../admin/http/request-validation.ts";
import { findOwners, listKeys } from "../admin/keys/list-sql.ts";
import { findKeys } from "../admin/keys/sql.ts";
import { findOrder } from "../admin/orders/sql.ts";
import { type Database, openDatabase } from "../db/database.ts";
import { hasKey, keyIn, parseKey } from "../key/key.ts";
import { hashKey } from "../key/mac.ts";
import { counted, planName } from "../text/format.ts";
import { isInt64 } from "../text/int64.ts";
import { foldForSearch } from "../text/text.ts";
import { nowSeconds } from "../text/time.ts";
import { addressOf, formOf, KeptForm, queryOf } from "./kit/forms.ts";
import { type ConsoleContext, docsUrl, FIND, FindForm, page, SECTIONS } from "./kit/page.tsx";
import { customerAddress } from "./kit/ui.tsx";

const MAX_KEYS = 8;
const MAX_CUSTOMERS = 5;

/** The script of the field reads the same members. */
type Found = {
  readonly kind: "key" | "customer" | "order" | "page";
  readonly name: string;
  readonly detail: string;
  readonly href: string;
};

/** The text may be a secret, so it comes in a body, and no address has it. A script gets what was found. */
export async function find(c: ConsoleContext): Promise<Response> {
  // Nothing is changed, so after a sign-in the form is sent again.
  const { text: typed = "" } = await formOf(c).catch((thrown) => {
    if (thrown instanceof KeptForm) return thrown.typed;
    throw thrown;
  });
  const text = typed.trim();
  refuseAdminToken(text, c.env);
  const found = await foundBy(c, text);
  if (c.req.header("Accept") === "application/json") return c.json(found);
  const things = found.filter(({ kind }) => kind !== "page");
  const [only, another] = things.length === 0 ? found : things;
  if (only && (!another || isIdOf(only, text))) return c.redirect(only.href, 303);
  return hasKey(text) ? showFound(c, undefined, []) : c.redirect(addressOf(FIND, { text }), 303);
}

export async function findPage(c: ConsoleContext): Promise<Response> {
  const { text = "" } = queryOf(c, v.strictObject({ text: v.optional(v.string()) }));
  return showFound(c, text, await foundBy(c, text.trim()));
}

/** `text` is undefined if it was a secret that no key has. */
function showFound(c: ConsoleContext, text: string | undefined, found: readonly Found[]) {
  const isAsked = text !== "";
  return page(
    c,
    { title: "Find" },
    <>
      <FindForm text={text ?? ""} hasFocus={!isAsked} />
      {isAsked && found.length > 0 && (
        <ul class="found">
          {found.map(({ kind, name, detail, href }) => (
            <li>
              <span class="muted">{kind}</span> <a href={href}>{name}</a> <span class="muted">{detail}</span>
            </li>
          ))}
        </ul>
      )}
      {isAsked && found.length === 0 && (
        <p role="status">
          {text === undefined
            ? "No key has this secret. Its key may be deleted, or the secret is older than 90 days."
            : "No key, customer, order or page has this text."}
        </p>
      )}
      <p class="row">
        {text && <a href={addressOf("/console/keys", { search: text })}>Search in all keys</a>}
        <a href="/console/keys">All keys</a>
        <a href="/console/orders">All orders</a>
        <a href={docsUrl("runbook.md#symptoms")}>Symptoms, and what to do</a>
      </p>
    </>,
  );
}

/** A text can be the id of one thing and a part of the names of others. */
function isIdOf({ href }: Found, text: string): boolean {
  return href.endsWith(`/${text}`);
}

/** The first one is what the text names, if it is an id. */
async function foundBy(c: ConsoleContext, text: string): Promise<readonly Found[]> {
  if (text === "") return [];
  const db = openDatabase(c.env.DB);
  if (hasKey(text)) return keyOfSecret(db, keyIn(text) ?? text);
  // A masked secret is found by its end.
  const part = /(?:…|\.\.\.)/.test(text) ? text.slice(-4) : text;
  const filter = { search: part, sort: "name", direction: "asc", limit: MAX_KEYS } as const;
  const [order, { keys }, customers] = await Promise.all([
    isInt64(text) ? findOrder(db, text) : undefined,
    listKeys(db, filter, nowSeconds()),
    findOwners(db, text, MAX_CUSTOMERS),
  ]);
  return [
    ...(order ? [{ kind: "order", name: text, detail: "", href: `/console/orders/${text}` } as const] : []),
    ...keys.map(foundKey),
    ...customers.map(
      ({ owner, keyCount }) =>
        ({
          kind: "customer",
          name: owner,
          detail: counted(keyCount, "key"),
          href: customerAddress(owner),
        }) as const,
    ),
    ...pagesWith(c, text),
  ];
}

type FoundKey = Awaited<ReturnType<typeof listKeys>>["keys"][number];

function foundKey({ id, name, ownerName, ownerEmail, plan, status }: FoundKey): Found {
  const detail = [ownerName ?? ownerEmail, planName(plan), status].filter((each) => each !== null).join(", ");
  return { kind: "key", name, detail, href: `/console/keys/${id}` };
}

async function keyOfSecret(db: Database, secret: string): Promise<readonly Found[]> {
  const [key] = await findKeys(db, [parseKey(secret)?.id ?? ""], nowSeconds());
  const hash = await hashKey(secret);
  return key?.secrets.some(({ id }) => hash.startsWith(id)) ? [foundKey(key)] : [];
}

function pagesWith(c: ConsoleContext, text: string): readonly Found[] {
  const actions = c.var.mayOnlyRead
    ? []
    : ([
        ["/console/keys/new", "Create key"],
        ["/console/orders/load", "Load orders"],
      ] as const);
  const sought = foldForSearch(text);
  return [...SECTIONS, ...actions]
    .filter(([, name]) => foldForSearch(name).includes(sought))
    .map(([href, name]) => ({ kind: "page", name, detail: "", href }) as const);
}
