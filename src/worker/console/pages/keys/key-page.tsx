/** `/console/keys/{id}` shows problems, usage, history and actions of a key. */

import { Hono } from "hono";
import type { Child } from "hono/jsx";
import type * as v from "valibot";
import { auditCalls } from "../../../admin/audit/calls.ts";
import { banCalls } from "../../../admin/bans/calls.ts";
import { keyCalls } from "../../../admin/keys/calls.ts";
import type { KeyView, LiveUsage, rotatedKey } from "../../../admin/keys/schema.ts";
import { planCalls } from "../../../admin/plans/calls.ts";
import type { LimitName } from "../../../admin/plans/schema.ts";
import { endOfKey, lastEndOf, RIGHTS, STRIKES_REASON } from "../../../admin/says.ts";
import { inputOf } from "../../../admin/serve.ts";
import type { AppEnv } from "../../../context.ts";
import { isUsable } from "../../../key/key.ts";
import { formatNumber, formatTime } from "../../../text/format.ts";
import { plansOf } from "../../../text/says.ts";
import { DAY_SECONDS } from "../../../text/time.ts";
import { type ActionContext, addActionPages, titleOf } from "../../kit/actions.tsx";
import { UsageChart } from "../../kit/chart.tsx";
import type { Failure } from "../../kit/failure.tsx";
import { addressOf, ask, doneAddress, knownCustomers } from "../../kit/forms.ts";
import { Presets } from "../../kit/list.tsx";
import { History, objectPage, openIn } from "../../kit/object.tsx";
import { docsUrl } from "../../kit/page.tsx";
import { chosenDay, hoursOfDays, Refusals } from "../../kit/refusals.tsx";
import {
  Badge,
  Copy,
  Customer,
  Day,
  Definitions,
  Live,
  MailTo,
  NONE,
  Notice,
  Relative,
  Table,
  Time,
  WindowGauges,
} from "../../kit/ui.tsx";
import { Bans } from "../bans.tsx";
import { secretPage } from "./issued-secret.tsx";
import {
  ACTIONS,
  addressOfKey,
  type ChangedKey,
  offered,
  permanentLimit,
  type ShownKey,
} from "./key-actions.tsx";

const EVENTS_SHOWN = 5;
const DAYS = 30;

export const keyPages = new Hono<AppEnv>();

addActionPages(keyPages, ACTIONS, showKey, (c, _, made) => {
  const isNew = made.customerCreated ? { customer: "new" } : {};
  const address = doneAddress(addressOfKey(c.req.param("id")), made, isNew);
  if (!hasSecret(made)) return c.redirect(address, 303);
  return secretPage(c, { title: "Secret rotated", made, oldSecretsEnd: lastEndOf(made.secrets) });
});

function hasSecret(made: ChangedKey): made is v.InferOutput<typeof rotatedKey> {
  return "key" in made;
}

async function showKey(c: ActionContext, failure?: Failure) {
  const id = c.req.param("id");
  const path = addressOfKey(id);
  const { live, whyRefused, ...key } = await keyCalls.show.run(inputOf(c, { id }));
  const from = `${DAYS - 1}d`;
  const limit = String(EVENTS_SHOWN);
  const [changes, bans, { rows: hours }, usage, { plans }, customers, chosen] = await Promise.all([
    ask(c, auditCalls.list, { object: id, limit }),
    ask(c, banCalls.list, { key: id, limit }),
    ask(c, keyCalls.usage, hoursOfDays(), id),
    ask(c, keyCalls.usage, { by: "day", from }, id),
    planCalls.list.run(inputOf(c, {})),
    openIn(c, failure) === "edit" ? knownCustomers(c) : [],
    chosenDay(c, "key", id),
  ]);
  const isBanned = live?.ban != null || key.bannedUntil !== null;
  const shown: ShownKey = { key, isBanned, plans, customers };
  const isOfNewCustomer = c.req.query("customer") === "new" && key.customer !== null;
  return objectPage(
    c,
    {
      title: key.name,
      head: <Badge status={isBanned && key.status === "active" ? "banned" : key.status} />,
      offered: offered(shown),
      failure,
      entries: changes.audit,
      more: isOfNewCustomer && (
        <>
          <Customer of={key.customer} /> is a new customer.
        </>
      ),
    },
    <>
      <Live seconds={10}>
        <Problems shown={shown} live={live} mayChange={!c.var.mayOnlyRead} />
        <WhyRefused sentences={whyRefused} />
        <Windows live={live} />
      </Live>
      <section>
        <h2>Usage</h2>
        <UsageChart title={`Last ${DAYS} days`} rows={usage.rows} by="day" asOf={usage.asOf} />
        <Presets links={[["By hour", addressOf("/console/usage", { key: id, by: "hour", from: "1d" })]]} />
      </section>
      <Refusals {...{ c, path, hours, chosen }} ofKey />
      <div class="columns">
        <section>
          <h2>About</h2>
          <About shown={shown} lastUsedAt={live?.lastUsedAt ?? null} />
        </section>
        <section>
          <h2>Secrets</h2>
          <Secrets keyView={key} />
        </section>
      </div>
      <Bans bans={bans.bans} />
      <History entries={changes.audit} mayUndo={!c.var.mayOnlyRead} />
      <Presets links={[["All changes", addressOf("/console/audit", { object: id })]]} />
    </>,
  );
}

function WhyRefused({ sentences }: { readonly sentences: readonly string[] }) {
  if (sentences.length === 0) return null;
  return (
    <Notice kind="warn">
      <h2>Why 429?</h2>
      <ul>
        {sentences.map((sentence) => (
          <li>{sentence}</li>
        ))}
      </ul>
      <p>
        <a href="#refused">When requests were refused</a>
      </p>
    </Notice>
  );
}

function Windows({ live }: { readonly live: LiveUsage | null }) {
  if (live === null) return null;
  const { strikes } = live;
  return (
    <section class="tiles" aria-label="Now">
      <WindowGauges of={live} />
      {strikes > 0 && (
        <div class="tile">
          <h2>Seconds over the limit</h2>
          <p>
            <strong>{formatNumber(strikes)}</strong>
          </p>
          <p class="muted">
            Seconds in which the key went on after the limit was used up. 20 of them lead to{" "}
            <a href={docsUrl("promises.md#the-ban-rule")}>a ban</a>.
          </p>
        </div>
      )}
    </section>
  );
}

/** `2,000 until 25 Nov 2026, 00:00 UTC, then 1,000 (own limit)` */
function limitText(shown: ShownKey, name: LimitName): string {
  const { key } = shown;
  const permanent = formatNumber(permanentLimit(shown, name));
  const origin = `${permanent} (${key[name] === null ? "of the plan" : "own limit"})`;
  if (key.nextPlan !== null && key[name] === null) {
    const then = shown.plans.find(({ id }) => id === key.nextPlan?.plan)?.[name] ?? 0;
    return `${origin}, ${formatNumber(then)} from ${formatTime(key.nextPlan.from)} on`;
  }
  const temporary = key.temporaryLimits?.[name] ?? null;
  if (key.temporaryLimits === null || temporary === null) return origin;
  return `${formatNumber(temporary)} until ${formatTime(key.temporaryLimits.until)}, then ${origin}`;
}

function About({ shown, lastUsedAt }: { readonly shown: ShownKey; readonly lastUsedAt: string | null }) {
  const { key } = shown;
  return (
    <Definitions
      facts={[
        [
          "Id",
          <>
            <code id="key-id">{key.id}</code> <Copy of="key-id" />
          </>,
        ],
        ["Customer", <Customer of={key.customer} />],
        ["E-mail", key.customer?.email && <MailTo address={key.customer.email} />],
        ["Plan", plansOf(key)],
        ["Rights", RIGHTS[`${key.mayCancel}`]],
        ["Per minute", limitText(shown, "requestsPerMinute")],
        ["Per day", limitText(shown, "requestsPerDay")],
        ["Expires", endOf(key, "never")],
        ["Created", <Time iso={key.createdAt} />],
        ["First used", key.firstUsedAt && <Time iso={key.firstUsedAt} />],
        ["Last used", lastUsedAt === null ? <Day iso={key.lastUsedDay} /> : <Relative iso={lastUsedAt} />],
        ["Location", key.location],
        ["Note", key.note],
      ]}
    />
  );
}

/** A revoked key has ended, whatever its expiry says. */
function endOf({ status, expiresAt }: Pick<KeyView, "status" | "expiresAt">, none: string): Child {
  if (status === "revoked") return "revoked";
  return expiresAt === null ? none : <Time iso={expiresAt} />;
}

function Secrets({ keyView }: { readonly keyView: KeyView }) {
  return (
    <Table
      caption="Secrets"
      columns={[
        { name: "Secret", cell: ({ hint }) => <code>{hint}</code> },
        { name: "Created", cell: ({ createdAt }) => <Day iso={createdAt} />, isMinor: true },
        {
          name: "Last used",
          saysNothing: ({ lastUsedAt }) => lastUsedAt === null,
          cell: ({ lastUsedAt }) => (lastUsedAt === null ? NONE : <Relative iso={lastUsedAt} />),
        },
        {
          name: "Valid until",
          cell: ({ expiresAt }) => endOf({ status: keyView.status, expiresAt }, "no end"),
        },
      ]}
      rows={keyView.secrets.toReversed()}
      empty="The key has no secret."
    />
  );
}

const EXPIRES_SOON_SECONDS = 30 * DAY_SECONDS;

type Problem = {
  readonly kind: "bad" | "warn";
  readonly says: Child;
  /** The action that helps. */
  readonly remedy?: string;
};

type ProblemsProps = {
  readonly shown: ShownKey;
  /** Null if the limiter cannot be reached. */
  readonly live: LiveUsage | null;
  readonly mayChange: boolean;
};

function Problems({ shown, live, mayChange }: ProblemsProps) {
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
