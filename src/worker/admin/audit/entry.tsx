/** An entry of the audit log as one sentence, with its details on demand. */
import type { Child } from "hono/jsx";
import { addressOf } from "../../console/forms.ts";
import { labelOf } from "../../console/labels.ts";
import { Time } from "../../console/ui.tsx";
import { formatNumber, formatTime } from "../../format.ts";
import type { AuditView } from "./schema.ts";

type EntryProps = { readonly entry: AuditView; readonly sentence: Child };

export function Entry({ entry, sentence }: EntryProps) {
  const { at, actor, requestId, before, after } = entry;
  return (
    <li>
      <Time iso={at} /> <a href={addressOf("/console/audit", { actor })}>{actor}</a> {sentence}
      <details>
        <summary>Details</summary>
        <pre>{JSON.stringify({ before, after, requestId }, null, 2)}</pre>
      </details>
    </li>
  );
}

type Members = Readonly<Record<string, unknown>>;

type Told = {
  readonly object: string;
  /** Links to the object. */
  readonly key: Child;
  readonly order: Child;
  readonly was: Members;
  readonly is: Members;
};

/** What somebody did, without who and when. */
const SENTENCES: Readonly<Record<string, (told: Told) => Child>> = {
  "keys.create": ({ key, is }) => ["created the key ", key, ` on plan ${text(is.plan)}`],
  "keys.update": ({ key, was, is }) => ["changed the key ", key, `: ${differences(was, is)}`],
  "keys.limit_temporarily": ({ key, is: { until, ...limits } }) => [
    "gave ",
    key,
    ` temporary limits until ${time(until)}: ${membersText(limits)}`,
  ],
  "keys.end_temporary_limits": ({ key }) => ["ended the temporary limits of ", key],
  "keys.rotate": ({ key, is }) => [
    "rotated the secret of ",
    key,
    `; old secrets end ${time(is.oldSecretsExpireAt)}`,
  ],
  "keys.retire": ({ key, was }) => [`retired the secret ${text(was.hint)} of `, key],
  "keys.revoke": ({ key }) => ["revoked the key ", key],
  "keys.tell": ({ key }) => ["told the limiter of ", key],
  "keys.tell_all": () => "told the limiters of all keys",
  "bans.set": ({ key, is }) => ["banned ", key, ` until ${time(is.endsAt)}: ${text(is.reason)}`],
  "bans.lift": ({ key, was }) => ["lifted the ban of ", key, `, whose scheduled end was ${time(was.endsAt)}`],
  "plans.update": ({ object, was, is }) => `changed the plan ${object}: ${differences(was, is)}`,
  "orders.update": ({ order, was, is }) => ["changed ", order, `: ${differences(was, is)}`],
  "orders.delete": ({ order }) => ["deleted ", order],
  "orders.load": ({ is }) => `loaded ${loaded(is)}`,
};

/** `name`: of the key. */
export function sentenceOf({ call, object, before, after }: AuditView, name: string | undefined): Child {
  return (
    SENTENCES[call]?.({
      object,
      key: <a href={`/console/keys/${object}`}>{name ?? object}</a>,
      order: <a href={`/console/orders/${object}`}>order {object}</a>,
      was: membersOf(before),
      is: membersOf(after),
    }) ?? `${call} ${object}`
  );
}

function membersOf(value: unknown): Members {
  return typeof value === "object" && value !== null ? { ...value } : {};
}

function differences(was: Members, is: Members): string {
  return Object.entries(is)
    .map(([name, value]) => `${labelOf(name)} ${text(was[name])} → ${text(value)}`)
    .join(", ");
}

function membersText(members: Members): string {
  const set = Object.entries(members).filter(([, value]) => value !== null);
  return set.map(([name, value]) => `${labelOf(name)} ${text(value)}`).join(", ");
}

const LOADED = ["inserted", "updated", "unchanged", "cancelled", "kept"] as const;

function loaded(figures: Members): string {
  const counts = LOADED.map((name) => `${formatNumber(Number(figures[name] ?? 0))} ${name}`).join(", ");
  const file = typeof figures.file === "string" ? ` from ${figures.file}` : "";
  const orders = Array.isArray(figures.statuses) ? figures.statuses.map(membersOf) : [];
  const statuses = orders.map(({ id, from, to }) => `, order ${text(id)} ${from} → ${to}`);
  return `orders${file}: ${counts}${statuses.join("")}`;
}

function time(value: unknown): string {
  return typeof value === "string" ? formatTime(value) : "–";
}

/** Numbers have 64 bits, which `JSON.stringify` writes with all digits. */
function text(value: unknown): string {
  if (value === null || value === undefined) return "none";
  if (typeof value !== "string") return JSON.stringify(value);
  return /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(value) ? formatTime(value) : value;
}
