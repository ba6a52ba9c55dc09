/** An entry of the audit log as one sentence, with its details on demand. */
import type { Child } from "hono/jsx";
import { formatNumber, formatTime } from "../../console/format.ts";
import { addressOf } from "../../console/forms.ts";
import { labelOf } from "../../console/labels.ts";
import { Time } from "../../console/ui.tsx";
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

/** What somebody did, without who and when. `name`: of the key. */
export function sentenceOf({ call, object, before, after }: AuditView, name: string | undefined): Child {
  const [was, is] = [membersOf(before), membersOf(after)];
  const key = <a href={`/console/keys/${object}`}>{name ?? object}</a>;
  const order = <a href={`/console/orders/${object}`}>order {object}</a>;
  switch (call) {
    case "keys.create":
      return (
        <>
          created the key {key} on plan {text(is.plan)}
        </>
      );
    case "keys.update":
      return (
        <>
          changed the key {key}: {differences(was, is)}
        </>
      );
    case "keys.limit_temporarily": {
      const { until, ...limits } = is;
      return (
        <>
          gave {key} temporary limits until {time(until)}: {membersText(limits)}
        </>
      );
    }
    case "keys.end_temporary_limits":
      return <>ended the temporary limits of {key}</>;
    case "keys.rotate":
      return (
        <>
          rotated the secret of {key}; old secrets end {time(is.oldSecretsExpireAt)}
        </>
      );
    case "keys.retire":
      return (
        <>
          retired the secret {text(was.hint)} of {key}
        </>
      );
    case "keys.revoke":
      return <>revoked the key {key}</>;
    case "keys.tell":
      return <>told {object === "keys" ? "the limiters of all keys" : <>the limiter of {key}</>}</>;
    case "bans.set":
      return (
        <>
          banned {key} until {time(is.endsAt)}: {text(is.reason)}
        </>
      );
    case "bans.lift":
      return (
        <>
          lifted the ban of {key}, whose scheduled end was {time(was.endsAt)}
        </>
      );
    case "plans.update":
      return (
        <>
          changed the plan {object}: {differences(was, is)}
        </>
      );
    case "orders.update":
      return (
        <>
          changed {order}: {differences(was, is)}
        </>
      );
    case "orders.delete":
      return <>deleted {order}</>;
    case "orders.load":
      return <>loaded {loaded(is)}</>;
    default:
      return (
        <>
          {call} {object}
        </>
      );
  }
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
