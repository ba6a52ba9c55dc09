/** Says why requests of a key are refused, or soon will be. */
import type { Child } from "hono/jsx";
import type { KeyView, LiveUsage } from "../../../admin/keys/schema.ts";
import { endOfKey, STRIKES_REASON } from "../../../admin/says.ts";
import { isUsable } from "../../../key/key.ts";
import { formatNumber } from "../../../text/format.ts";
import { DAY_SECONDS } from "../../../text/time.ts";
import { titleOf } from "../../kit/actions.tsx";
import { docsUrl } from "../../kit/page.tsx";
import { Notice, Relative, Time } from "../../kit/ui.tsx";
import { offered, type ShownKey } from "./key-actions.tsx";

const EXPIRES_SOON_SECONDS = 30 * DAY_SECONDS;

type Problem = {
  readonly kind: "bad" | "warn";
  readonly says: Child;
  /** The action that helps. */
  readonly remedy?: string;
};

type Props = {
  readonly shown: ShownKey;
  /** Null if the limiter cannot be reached. */
  readonly live: LiveUsage | null;
  readonly mayChange: boolean;
};

export function Problems({ shown, live, mayChange }: Props) {
  const { key } = shown;
  const problems = [...banProblems(key, live), ...limitProblems(key, live), ...statusProblems(key)];
  return (
    <>
      {problems.map(({ kind, says, remedy }) => (
        <Notice kind={kind}>
          {says} {mayChange && remedy && <Remedy shown={shown} name={remedy} />}
        </Notice>
      ))}
    </>
  );
}

function Remedy({ shown, name }: { readonly shown: ShownKey; readonly name: string }) {
  const { actions, address } = offered(shown);
  const [, action] = actions.find(([each]) => each === name) ?? [];
  return action && <a href={`${address}/${name}`}>{titleOf(shown, action)}</a>;
}

function statusProblems(key: KeyView): Problem[] {
  const { status, expiresAt } = key;
  if (status === "revoked") return [{ kind: "bad", says: "The key is revoked, which is permanent." }];
  if (status === "disabled") {
    return [{ kind: "bad", says: "The key is disabled: its requests are a 401.", remedy: "enable" }];
  }
  if (status === "expired" && expiresAt !== null) {
    const says = (
      <>
        The key expired at <Time iso={expiresAt} />: its requests are a 401.
      </>
    );
    return [{ kind: "bad", says, remedy: "edit" }];
  }
  const ends = endOfKey(key);
  if (!ends || Date.parse(ends.end) > Date.now() + EXPIRES_SOON_SECONDS * 1000) return [];
  const says = (
    <>
      The key {ends.says} <Relative iso={ends.end} />.
    </>
  );
  return [{ kind: "warn", says, remedy: ends.remedy }];
}

function banProblems({ status, bannedUntil }: KeyView, live: LiveUsage | null): Problem[] {
  const endsAt = live?.ban?.endsAt ?? bannedUntil;
  if (endsAt === null || status === "revoked") return [];
  const reason = live?.ban && (live.ban.cause === "operator" ? live.ban.reason : STRIKES_REASON);
  const says = (
    <>
      <strong>
        Banned until <Time iso={endsAt} />
      </strong>
      , which is <Relative iso={endsAt} />
      {reason && `: ${reason}`}.
    </>
  );
  return [{ kind: "bad", says, remedy: "lift" }];
}

/** Requests of a key that is disabled, expired or revoked are a 401, whatever is used. During a ban no other limit helps. */
function limitProblems({ status, bannedUntil }: KeyView, live: LiveUsage | null): Problem[] {
  if (live === null) {
    const says = (
      <>
        The key's counter cannot be reached: it counts the requests, and bans the key. The figures of the last
        hour may be missing. <a href={docsUrl("runbook.md#symptoms")}>What to look at</a>
      </>
    );
    return [{ kind: "warn", says }];
  }
  if (!isUsable(status) || live.ban !== null || bannedUntil !== null) return [];
  return (["day", "minute"] as const).flatMap((name) => {
    const { limit, remaining, resetsAt } = live[name];
    if (remaining > 0) return [];
    const says = (
      <>
        The limit of this {name} is used up: {formatNumber(limit)}. Requests are refused until{" "}
        <Time iso={resetsAt} />, which is <Relative iso={resetsAt} />.
      </>
    );
    return [{ kind: "bad" as const, says, remedy: "limit" }];
  });
}
