/** The sentence that a command prints after a change. */
import type { BanView } from "../worker/admin/bans/schema.ts";
import type { KeyView } from "../worker/admin/keys/schema.ts";
import { inline, labelOf, minuteOf } from "./output.ts";

export type Change = {
  /** The object's name as the operator gave it: `acme`, `Plan pro`. */
  readonly name: string;
  readonly body: Readonly<Record<string, unknown>>;
};

type Effect = { readonly effective: string };
type Key = KeyView & Effect;

/** Sentences by the id of the call. `changed` makes the sentence of every other call. */
const SENTENCES: Readonly<Record<string, (answer: never, change: Change) => string>> = {
  "alerts.resend": sentAlert,
  "alerts.test": sentAlert,
  "bans.lift": ({ lifted, ...effect }: { lifted: BanView | null } & Effect, { name }) =>
    lifted === null
      ? `${name} is not banned.`
      : `The ban of ${lifted.keyName ?? name} is over${when(effect)}.`,
  "bans.set": ({ ban, replaced, ...effect }: { ban: BanView; replaced: BanView[] } & Effect, { name }) => {
    const { keyName, startedAt, endsAt } = ban;
    const isToday = startedAt.slice(0, 10) === endsAt.slice(0, 10);
    const end = isToday ? endsAt.slice(11, 16) : minuteOf(endsAt);
    const before = replaced.map((each) => ` A ban until ${minuteOf(each.endsAt)} UTC is replaced.`);
    return `${keyName ?? name} is banned until ${end} UTC${when(effect)}.${before.join("")}`;
  },
  "keys.create": ({ name, id, plan, limits }: KeyView) =>
    `${name} is created: ${id}, plan ${plan}, ${limits.requestsPerMinute} requests a minute, ${limits.requestsPerDay} a day.`,
  "keys.end_temporary_limits": (key: Key) => `${key.name} has its permanent limits again${when(key)}.`,
  "keys.limit_temporarily": ({ temporaryLimits, ...key }: Key, change) =>
    `${changed({ ...key, ...temporaryLimits }, change)} The limits hold until ${minuteOf(temporaryLimits?.until ?? "")} UTC.`,
  "keys.retire": (key: Key) => `The secret of ${key.name} has ended${when(key)}.`,
  "keys.revoke": (key: Key) => `${key.name} is revoked${when(key)}.`,
  "keys.rotate": ({ name, secrets, ...effect }: Key) => {
    const old = secrets.filter(({ expiresAt }) => expiresAt !== null);
    const ends = old.map(({ hint, expiresAt }) => ` ${hint} ends at ${minuteOf(expiresAt ?? "")} UTC.`);
    return `${name} has a new secret${when(effect)}.${ends.join("")}`;
  },
  "keys.tell": told,
  "keys.tell_all": told,
  "keys.update": (key: Key, change) =>
    `${Object.keys(change.body)}` === "disabled"
      ? `${key.name} is ${key.status}${when(key)}.`
      : changed(key, change),
  "orders.delete": ({ status }: { status: string }, { name }) => `${name}, which was ${status}, is deleted.`,
};

export function sentenceOf(id: string, answer: object, change: Change): string {
  const sentence = SENTENCES[id] ?? changed;
  return sentence(answer as never, change); // the call of this id answers so
}

/** Names the changed members with their present values. */
function changed(answer: { readonly name?: string } & Partial<Effect>, { name, body }: Change): string {
  const members = new Map<string, unknown>(Object.entries(answer));
  const now = Object.keys(body)
    .map((member) => (member === "disabled" ? "status" : member))
    .filter((member) => members.has(member))
    .map((member) => `${labelOf(member)} ${inline(members.get(member))}`);
  return `${answer.name ?? name} has changed${when(answer)}: ${now.join(", ")}.`;
}

function sentAlert({ status, error }: { status: number | null; error: string | null }): string {
  return error === null ? `The webhook answered ${status}.` : `The webhook was not reached: ${error}.`;
}

function told({ untold }: { untold: number | null }, { name }: Change): string {
  if (untold === null) return "The database failed: try again.";
  const rest = untold === 0 ? "" : ` ${untold} limiters are told within minutes.`;
  return `${name || "Every key"} is read again by its limiter.${rest}`;
}

function when({ effective }: Partial<Effect>): string {
  if (effective === undefined) return "";
  return effective === "immediately" ? ", from now on" : ", within minutes";
}
