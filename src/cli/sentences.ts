/** The sentence that a command prints after a change. The console and the audit log say it, too. */

import type { BanView } from "../worker/admin/bans/schema.ts";
import { lastEndOf } from "../worker/admin/keys/says.ts";
import type { ChangedKeys, KeyView } from "../worker/admin/keys/schema.ts";
import { SAYS, saysOf } from "../worker/admin/says.ts";
import { counted } from "../worker/text/format.ts";
import { differences, listOf, type Members, membersOf, sentenceOf } from "../worker/text/says.ts";

export type Change = {
  /** The object's name as the operator gave it: `acme`, `Plan pro`. */
  readonly name: string;
  /** The members of the body, and the other names of the command line. */
  readonly sent: Members;
};

type Difference = { readonly before?: object | null | undefined; readonly after?: object | null };

/** What changed, by the id of the call. The answer of another call has the members of its body. */
const CHANGED: Readonly<Record<string, (answer: never, sent: Members) => Difference>> = {
  "audit.undo": (undone: object) => ({ after: undone }),
  "bans.lift": ({ lifted }: { lifted: BanView | null }) => ({ before: lifted }),
  "bans.set": ({ ban, replaced }: { ban: BanView; replaced: BanView[] }) => ({
    before: replaced.toSorted((a, b) => a.endsAt.localeCompare(b.endsAt)).at(-1),
    after: ban,
  }),
  "keys.create": (key: KeyView) => ({ after: key }),
  "keys.limit_temporarily": ({ temporaryLimits }: KeyView) => ({ after: temporaryLimits }),
  "keys.retire": ({ secrets }: KeyView, { secret }) => ({ before: secrets.find(({ id }) => id === secret) }),
  "keys.rotate": ({ secrets }: KeyView) => ({ after: { oldSecretsExpireAt: lastEndOf(secrets) } }),
  "links.create": (link: object) => ({ after: link }),
  "links.revoke": (link: object) => ({ before: link }),
  "orders.delete": (order: object) => ({ before: order }),
};

export type Answer = {
  readonly id?: string;
  readonly name?: string;
  /** Null: the change is not about keys. */
  readonly effective?: string | null;
  /** How many limiters a `refresh` has not reached. Null: the database failed. */
  readonly outdated?: number | null;
};

export function sentenceAfter(call: string, answer: Answer, { name, sent }: Change): string {
  if (SAYS[call] === undefined) return sentAlert(answer as SentAlert); // the other calls send alerts
  const { outdated = 0, effective } = answer;
  if (outdated === null) return "The database failed: try again.";
  const was = CHANGED[call]?.(answer as never, sent) ?? { after: presentOf(answer, sent) }; // the call answers so
  const { keyName } = { ...membersOf(was.before), ...membersOf(was.after) };
  const object = answer.name ?? (typeof keyName === "string" ? keyName : name || answer.id || "All keys");
  const subject = call === "keys.create" ? `${object} (${answer.id})` : object;
  const rest =
    outdated === 0
      ? restAfter(call, answer, sent)
      : ` ${counted(outdated, "key")} follow${outdated === 1 ? "s" : ""} within minutes.`;
  return `${sentenceOf(subject, saysOf({ call, ...was }), effective)}${rest}`;
}

/** What a change of several keys sets. A call that takes the value from its body has no entry. */
const SETS: Readonly<Record<string, Members>> = {
  "keys.disable": { status: "disabled" },
  "keys.enable": { status: "active" },
  "keys.revoke_several": { status: "revoked" },
};

/** Returns a line for each key. */
export function sentencesAfter(call: string, { changed, unchanged }: ChangedKeys, sent: Members): string {
  const after = SETS[call] ?? { plan: sent.plan };
  const lines = changed.map(({ name, was, effective }) => {
    const before = Object.fromEntries(Object.keys(after).map((member) => [member, was]));
    if (effective === null) return `${name}: ${differences(before, after)}`;
    return sentenceOf(name, saysOf({ call: "keys.update", before, after }), effective);
  });
  return [...lines, ...unchanged.map(({ name, reason }) => `Unchanged: ${name} ${reason}.`)].join("\n");
}

/** Limits that a key has beside its plan's go on, which an operator who changes the plan may not expect. */
function restAfter(call: string, answer: Answer, sent: Members): string {
  if (call !== "keys.update" || sent.plan === undefined) return "";
  const { requestsPerMinute, requestsPerDay, temporaryLimits } = answer as KeyView; // the call answers so
  const own = listOf(Object.entries({ requestsPerMinute, requestsPerDay }));
  const temporary = listOf(Object.entries(temporaryLimits ?? {}));
  return [
    own && ` The key keeps limits of its own: ${own}.`,
    temporary && ` The key keeps temporary limits: ${temporary}.`,
  ].join("");
}

/** The present values of the members that were sent. */
function presentOf(answer: object, sent: Members): Members {
  const names = Object.keys(sent).map((name) => (name === "disabled" ? "status" : name));
  return Object.fromEntries(Object.entries(answer).filter(([name]) => names.includes(name)));
}

type SentAlert = { readonly status: number | null; readonly error: string | null };

function sentAlert({ status, error }: SentAlert): string {
  return error === null
    ? `The receiver accepted the alert: status ${status}.`
    : `The receiver did not accept the alert: ${error}.`;
}
