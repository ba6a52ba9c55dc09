/** `/console/find` finds keys, customers and orders by one text. */
import * as v from "valibot";
import { type FoundThing, find, IS_MASKED } from "../../admin/find/calls.ts";
import { hasKey, keyIn, parseKey, SECRET_ID_CHARS } from "../../key/key.ts";
import { hashKey, MacKeys } from "../../key/mac.ts";
import { ownerCodeIn } from "../../key/owner-code.ts";
import { addressOf, ask, formOf, queryOf } from "../kit/forms.ts";
import { type ConsoleContext, docsUrl, page } from "../kit/page.tsx";
import { customerAddress } from "../kit/ui.tsx";

type FoundAction = readonly [name: string, words: string, address: string];

const ACTIONS: readonly FoundAction[] = [
  ["Create a key", "create new key onboard", "/keys/new"],
  ["Create a customer", "create new customer onboard", "/customers/new"],
  ["Revoke, disable or enable keys", "revoke disable enable delete remove offboard", "/keys"],
  [
    "A secret has leaked: open its key, rotate it, read its day",
    "rotate secret leak leaked stolen github",
    "/keys",
  ],
  ["Lift a ban: the banned keys", "ban banned lift unban blocked", "/keys?status=banned"],
  [
    "The keys with the most refusals of today",
    "429 refused refusals too many requests",
    "/usage?sort=refused",
  ],
  ["When requests were refused", "429 refused refusals hours when", "/usage?by=hour&from=29d"],
  ["Change the limits of a plan", "plan plans limit limits quota", "/plans"],
  ["Alerts, and their webhook", "webhook alert alerts slack notify notification", "/alerts"],
  ["Keys that expire", "expire expires expiry expiring", "/keys?status=usable&sort=expiry"],
  ["Keys that nobody uses", "unused inactive last used", "/keys?unusedSince=90d"],
  ["Links for owners: open the customer", "owner link links share", "/customers"],
  ["Report of a month: open the customer", "report month invoice bill export", "/customers"],
  ["Load orders from a file", "load import upload csv file orders", "/orders/load"],
  ["Cancelled orders", "cancelled canceled vanished lost order orders", "/orders/cancelled"],
  ["Sign out a colleague", "sign out session sessions signed logout colleague", "/sessions"],
  ["What operators changed, and undo", "undo audit changed change history who", "/audit"],
];

/** Each word of the text must begin a word of the action. */
function actionsFor(text: string): readonly FoundAction[] {
  const sought = text.toLowerCase().split(/\s+/).filter(Boolean);
  if (sought.join("").length < 3) return [];
  return ACTIONS.filter(([, words]) => {
    const known = words.split(" ");
    return sought.every((each) => known.some((word) => word.startsWith(each)));
  });
}

type Found = Omit<FoundThing, "id"> & { readonly href: string };

const FIND = "/console/find";

/** The text may be a secret, so it comes in a body, and no address has it. */
export async function answerFind(c: ConsoleContext): Promise<Response> {
  const { text: typed = "" } = await formOf(c);
  const text = typed.trim();
  const found = await foundBy(c, text);
  const [only, another] = found;
  const isOnly = !another && actionsFor(text).length === 0;
  if (only && (isOnly || isIdOf(only, text))) return c.redirect(only.href, 303);
  return isSecret(text) ? showFound(c, text, []) : c.redirect(addressOf(FIND, { text }), 303);
}

export async function findPage(c: ConsoleContext): Promise<Response> {
  const { text = "" } = queryOf(c, v.strictObject({ text: v.optional(v.string()) }));
  return showFound(c, text, await foundBy(c, text.trim()));
}

async function showFound(c: ConsoleContext, text: string, found: readonly Found[]) {
  const shown = isSecret(text) ? "" : text;
  const actions = actionsFor(shown);
  const nothing = text !== "" && found.length + actions.length === 0 && (
    <p role="status">{await nothingIs(c, text)}</p>
  );
  return page(
    c,
    { title: "Find" },
    <>
      <search>
        <form method="post" action={FIND} class="find">
          <input
            type="search"
            name="text"
            value={shown}
            aria-label="Find"
            title="A key, a customer, an order, or what you want to do: a name, an e-mail address, a note, an id, a secret or its last four characters."
            maxlength={254}
            autocomplete="off"
            spellcheck={false}
            autofocus={text === ""}
            required
          />
        </form>
      </search>
      {found.length + actions.length > 0 && (
        <ul class="found">
          {actions.map(([name, , address]) => (
            <li>
              <span class="muted">do</span> <a href={`/console${address}`}>{name}</a>
            </li>
          ))}
          {found.map(({ kind, name, detail, href }) => (
            <li>
              <span class="muted">{kind}</span> <a href={href}>{name}</a> <span class="muted">{detail}</span>
            </li>
          ))}
        </ul>
      )}
      {nothing}
      <p class="row">
        {shown && <a href={addressOf("/console/keys", { search: shown })}>Search in all keys</a>}
        <a href="/console/keys">All keys</a>
        <a href="/console/orders">All orders</a>
        <a href={docsUrl("runbook.md#symptoms")}>Symptoms, and what to do</a>
      </p>
    </>,
  );
}

/** A secret, or the beginning of one, or the value of a session's cookie: it comes in no address and no answer. */
function isSecret(text: string): boolean {
  return hasKey(text) || IS_SESSION.test(text);
}

const IS_SESSION = /(^|=)[\w-]{43}$/;
const WHY_NOT_FOUND = "Its key may be deleted, or the secret has ended more than 90 days ago.";

async function nothingIs(c: ConsoleContext, text: string): Promise<string> {
  if (ownerCodeIn(text) !== undefined)
    return "This is the code of an owner's link, and no secret of a key. Whoever has it can open the link.";
  const key = parseKey(keyIn(text) ?? "");
  if (key !== undefined)
    return (await new MacKeys().verify(c.env, key))
      ? `The service made this secret, but no key has it. ${WHY_NOT_FOUND}`
      : "The service never made this secret: a character is wrong, or it is of another service.";
  if (hasKey(text)) return "This is a part of a secret, or of the code of a link. Paste the whole.";
  if (IS_SESSION.test(text))
    return "This may be the cookie of a session. Whoever has it is signed in: sign out to end the session.";
  return IS_MASKED.test(text)
    ? `No key has a secret that ends in ${text.slice(-4)}. ${WHY_NOT_FOUND}`
    : "No key, customer or order has this text.";
}

/** A text can be the id of one thing and a part of the names of others. */
function isIdOf({ href }: Found, text: string): boolean {
  return href.endsWith(`/${text}`);
}

/** A secret is no part of a query, so its key is found by the id of the secret. */
async function foundBy(c: ConsoleContext, text: string): Promise<readonly Found[]> {
  if (text === "") return [];
  const secret = keyIn(text);
  if (secret === undefined && hasKey(text)) return [];
  const sought = secret ? (await hashKey(secret)).slice(0, SECRET_ID_CHARS) : text;
  const { found } = await ask(c, find, { text: sought });
  return found.map(({ id, ...thing }) => ({ ...thing, href: ADDRESSES[thing.kind](id) }));
}

const ADDRESSES: Readonly<Record<FoundThing["kind"], (id: string) => string>> = {
  key: (id) => `/console/keys/${id}`,
  customer: customerAddress,
  order: (id) => `/console/orders/${id}`,
  cancelled: () => "/console/orders/cancelled",
  link: (customer) => `${customerAddress(customer)}/links`,
};
