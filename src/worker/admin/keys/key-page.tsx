/** `/console/keys/{id}`: what a key does now, what happened to it, and everything that an operator can change. */
import { type Context, Hono } from "hono";
import type { Child, PropsWithChildren } from "hono/jsx";
import { UsageChart } from "../../console/chart.tsx";
import { type Failure, FailureNotice, failureOf } from "../../console/failure.tsx";
import { formatNumber, formatTime } from "../../console/format.ts";
import {
  accept,
  addressOf,
  changedIn,
  doneAddress,
  effectIn,
  formOf,
  isDone,
  numberOrNull,
  type Typed,
  textOrNull,
  versionOf,
} from "../../console/forms.ts";
import { page } from "../../console/page.tsx";
import {
  Badge,
  Basis,
  Check,
  Facts,
  Field,
  Gauge,
  Notice,
  Relative,
  Select,
  Table,
  Time,
} from "../../console/ui.tsx";
import type { AppEnv } from "../../context.ts";
import { openDatabase } from "../../db/database.ts";
import { MAX_TEMPORARY_LIMIT_DAYS } from "../../db/values.ts";
import { midnightAfter, nowSeconds, rfc3339 } from "../../time.ts";
import { Entry, sentenceOf } from "../audit/entry.tsx";
import { banKey, liftBan } from "../bans/change.ts";
import { banRequest } from "../bans/schema.ts";
import type { PlanView } from "../plans/schema.ts";
import { listPlans } from "../plans/sql.ts";
import type { Effective } from "../tell-limiters.ts";
import type { HourUsage } from "../usage/schema.ts";
import { findUsageOfKey, lastDays, lastHours, listUsageOverTime } from "../usage/service.ts";
import {
  endTemporaryLimits,
  limitTemporarily,
  retireSecret,
  revokeKey,
  rotateKey,
  updateKey,
} from "./change.ts";
import { KeyFields, LimitFields, membersOf, textsOf } from "./fields.tsx";
import { findKeyHistory } from "./history.ts";
import { inspectKey } from "./live.ts";
import type { KeyEvent, KeyView, LiveUsage, SecretView } from "./schema.ts";
import { keyUpdate, rotation, temporaryLimits } from "./schema.ts";
import { secretPage } from "./secret-page.tsx";

const DONE = {
  edit: "The key was changed.",
  limit: "The key has temporary limits.",
  unlimit: "The temporary limits were ended.",
  ban: "The key is banned.",
  lift: "The ban was lifted.",
  disable: "The key is disabled.",
  enable: "The key is enabled.",
  retire: "The secret is retired.",
  revoke: "The key is revoked.",
};

const EVENTS_SHOWN = 30;
const MINUTES_SHOWN = 60;

type KeyContext = Context<AppEnv, "/:id">;
type Changed = { readonly version: number; readonly effective: Effective };

/** A change by a form of this page. Its answer leads to the page, or is the page with what was refused. */
function change(
  action: string,
  make: (c: KeyContext, typed: Typed) => Promise<Changed | Response>,
): (c: KeyContext) => Promise<Response> {
  return async (c) => {
    const id = c.req.param("id");
    const typed = await formOf(c);
    try {
      const made = await make(c, typed);
      if (made instanceof Response) return made;
      return c.redirect(doneAddress(`/console/keys/${id}`, action, made), 303);
    } catch (thrown) {
      return keyPage(c, failureOf(thrown, action, typed));
    }
  };
}

export const keyPages = new Hono<AppEnv>()
  .get("/:id", (c) => keyPage(c))
  // The answer of a form, opened again.
  .get("/:id/:action", (c) => c.redirect(`/console/keys/${encodeURIComponent(c.req.param("id"))}`))

  .post(
    "/:id/edit",
    change("edit", async (c, typed) => {
      const update = accept(c, keyUpdate, membersOf(changedIn(typed)));
      return updateKey({ ...inputOf(c, typed), body: update });
    }),
  )
  .post(
    "/:id/disable",
    change("disable", (c, typed) => updateKey({ ...inputOf(c, typed), body: { disabled: true } })),
  )
  .post(
    "/:id/enable",
    change("enable", (c, typed) => updateKey({ ...inputOf(c, typed), body: { disabled: false } })),
  )
  .post(
    "/:id/rotate",
    change("rotate", async (c, typed) => {
      const body = accept(c, rotation, { graceSeconds: numberOrNull(typed.graceSeconds) });
      const rotated = await rotateKey({ ...inputOf(c, typed), body });
      return secretPage(c, "Secret rotated", rotated, `takes the new secret ${rotated.effective}.`);
    }),
  )
  .post(
    "/:id/limit",
    change("limit", (c, typed) => {
      const { requestsPerMinute, requestsPerDay } = membersOf(typed);
      const days = numberOrNull(typed.days);
      const limits = { requestsPerMinute, requestsPerDay, days, reason: textOrNull(typed.reason) };
      return limitTemporarily({ ...inputOf(c, typed), body: accept(c, temporaryLimits, limits) });
    }),
  )
  .post(
    "/:id/unlimit",
    change("unlimit", (c, typed) => endTemporaryLimits(inputOf(c, typed))),
  )
  .post(
    "/:id/retire",
    change("retire", (c, typed) => retireSecret({ ...inputOf(c, typed), partId: typed.secret ?? "" })),
  )
  .post(
    "/:id/ban",
    change("ban", (c, typed) => {
      const seconds = Number(typed.amount) * Number(typed.unit);
      const ban = accept(c, banRequest, { seconds, reason: typed.reason });
      return banKey({ ...inputOf(c, typed), body: ban });
    }),
  )
  .post(
    "/:id/lift",
    change("lift", (c, typed) => liftBan(inputOf(c, typed))),
  )
  .post(
    "/:id/revoke",
    change("revoke", (c, typed) => revokeKey(inputOf(c, typed))),
  );

function inputOf(c: KeyContext, typed: Typed) {
  const id = c.req.param("id");
  return { env: c.env, author: c.var.author, id, body: {}, expected: versionOf(typed) };
}

async function keyPage(c: KeyContext, failure?: Failure) {
  const id = c.req.param("id");
  const db = openDatabase(c.env.DB);
  // The limiter reports first, so that the rest is of this moment.
  const hours = await findUsageOfKey(c.env, id, { by: "hour", from: lastHours(48).fromSeconds });
  const [key, days, history, plans] = await Promise.all([
    inspectKey(c.env, id),
    listUsageOverTime(db, { ...lastDays(30), key: id }, "day"),
    findKeyHistory(c.env, id, { after: undefined, limit: EVENTS_SHOWN }),
    listPlans(db),
  ]);
  const done = Object.entries(DONE).find(([action]) => isDone(c, action, key));
  return page(
    c,
    {
      title: key.name,
      actions: <Badge status={key.status} />,
      status: failure?.status ?? 200,
    },
    <>
      {failure && <FailureNotice failure={failure} />}
      {done && (
        <Notice kind="good">
          <p>
            {done[1]} It takes effect {effectIn(c)}.
          </p>
        </Notice>
      )}
      {key.live === null && (
        <Notice kind="warn">
          <p>The limiter of this key cannot be reached. The figures of the last hour may be missing.</p>
        </Notice>
      )}
      <p class="id">
        <code id="key-id">{key.id}</code>
        <button type="button" class="button small" data-copy="key-id" hidden>
          Copy
        </button>
      </p>
      <Live live={key.live} />
      <div class="columns">
        <section>
          <h2>About</h2>
          <About keyView={key} plan={plans.find(({ id }) => id === key.plan)} />
        </section>
        <section>
          <h2>Actions</h2>
          <Actions
            keyView={key}
            isBanned={key.live?.ban != null || key.bannedUntil !== null}
            plans={plans}
            failure={failure}
          />
        </section>
      </div>
      <section>
        <h2>Usage</h2>
        <UsageChart title="Last 48 hours" rows={hours.rows} by="hour" />
        <UsageChart title="Last 30 days" rows={days} by="day" />
      </section>
      <section>
        <h2>Refused requests, last 7 days</h2>
        <RefusedMinutes hours={history.hours} />
      </section>
      <section>
        <h2>Secrets</h2>
        <Secrets keyView={key} />
      </section>
      <section>
        <h2>History</h2>
        <History events={history.events} name={key.name} />
        {history.next !== null && <a href={addressOf("/console/audit", { object: id })}>All changes</a>}
      </section>
    </>,
  );
}

function Live({ live }: { readonly live: LiveUsage | null }) {
  if (live === null) return null;
  const { minute, day, ban, strikes } = live;
  return (
    <section aria-label="Now">
      {ban !== null && (
        <Notice kind="bad">
          <p>
            <strong>
              Banned until <Time iso={ban.endsAt} />
            </strong>
            , which is <Relative iso={ban.endsAt} />:{" "}
            {ban.cause === "operator" ? ban.reason : "requests went on after the limit was used up"}.
          </p>
        </Notice>
      )}
      <div class="tiles">
        <Gauge name="This minute" used={minute.used} limit={minute.limit}>
          Resets <Relative iso={minute.resetsAt} />
        </Gauge>
        <Gauge name="Today" used={day.used} limit={day.limit}>
          Resets <Relative iso={day.resetsAt} />
        </Gauge>
        <div class="tile">
          <h2>Strikes</h2>
          <p>
            <strong>{formatNumber(strikes)}</strong>
          </p>
          <p class="muted">
            Seconds in which the key went on after the limit was used up. 20 of them lead to a ban.
          </p>
        </div>
      </div>
    </section>
  );
}

type Limit = "requestsPerMinute" | "requestsPerDay";

/** `2,000 until 25 Nov 2026, 00:00 UTC, then 1,000 (own limit)` */
function limitText(key: KeyView, name: Limit, plan: PlanView | undefined): string {
  const permanent = key[name] ?? plan?.[name] ?? 0;
  const origin = `${formatNumber(permanent)} (${key[name] === null ? "of the plan" : "own limit"})`;
  const temporary = key.temporaryLimits?.[name] ?? null;
  if (key.temporaryLimits === null || temporary === null) return origin;
  return `${formatNumber(temporary)} until ${formatTime(key.temporaryLimits.until)}, then ${origin}`;
}

/** A local part may have `?` and `&`, which begin further fields of the mail. */
function mailto(address: string): string {
  return `mailto:${encodeURIComponent(address).replace("%40", "@")}`;
}

type AboutProps = { readonly keyView: KeyView; readonly plan: PlanView | undefined };

function About({ keyView: key, plan }: AboutProps) {
  return (
    <Facts
      facts={[
        ["Owner", key.ownerName ?? "–"],
        ["E-mail", key.ownerEmail ? <a href={mailto(key.ownerEmail)}>{key.ownerEmail}</a> : "–"],
        ["Plan", key.plan],
        ["Per minute", limitText(key, "requestsPerMinute", plan)],
        ["Per day", limitText(key, "requestsPerDay", plan)],
        ["Expires", key.expiresAt === null ? "never" : <Time iso={key.expiresAt} />],
        ["Created", <Time iso={key.createdAt} />],
        ["First used", <Time iso={key.firstUsedAt} />],
        ["Last used", key.lastUsedDay ?? "–"],
        ["Location", key.location ?? "near the first request"],
        ["Note", key.note ?? "–"],
      ]}
    />
  );
}

type ActionProps = PropsWithChildren<{
  readonly keyView: KeyView;
  readonly action: string;
  readonly title: string;
  /** What its fields show. */
  readonly texts?: Typed;
  readonly isDangerous?: boolean;
  readonly failure: Failure | undefined;
}>;

/** A form that opens. It carries the version of the key that the page shows. */
function Action({ keyView, action, title, texts, isDangerous = false, failure, children }: ActionProps) {
  return (
    <details class="action" open={failure?.action === action}>
      <summary>{title}</summary>
      <form method="post" action={`/console/keys/${keyView.id}/${action}`}>
        <Basis version={keyView.version} texts={texts} />
        {children}
        <button type="submit" class={isDangerous ? "button danger" : "button primary"}>
          {title}
        </button>
      </form>
    </details>
  );
}

type ActionsProps = {
  readonly keyView: KeyView;
  readonly isBanned: boolean;
  readonly plans: readonly PlanView[];
  readonly failure: Failure | undefined;
};

const UNITS = [
  ["60", "minutes"],
  ["3600", "hours"],
  ["86400", "days"],
] as const;

const GRACE = [
  ["0", "end at once"],
  ["3600", "stay valid for 1 hour"],
  ["86400", "stay valid for 1 day"],
  ["604800", "stay valid for 7 days"],
  ["2592000", "stay valid for 30 days"],
] as const;

type LimitActionProps = Omit<ActionsProps, "isBanned" | "plans"> & { readonly typed: Typed };

function LimitAction({ keyView, failure, typed }: LimitActionProps) {
  const { limits } = keyView;
  const endOf = (days: number) => formatTime(rfc3339(midnightAfter(nowSeconds(), days)));
  return (
    <Action keyView={keyView} failure={failure} action="limit" title="Set temporary limit">
      <LimitFields
        form="limit"
        texts={typed}
        hint={(name) => `Now ${formatNumber(limits[name])}. Empty: no temporary limit.`}
      />
      <Field
        name="days"
        form="limit"
        label="Days (UTC)"
        type="number"
        value={typed.days ?? "1"}
        hint={`1: until ${endOf(1)}. 7: until ${endOf(7)}.`}
        attributes={{ min: 1, max: MAX_TEMPORARY_LIMIT_DAYS, required: true, inputmode: "numeric" }}
      />
      <Field
        name="reason"
        form="limit"
        label="Reason (optional)"
        value={typed.reason}
        attributes={{ maxlength: 500 }}
      />
    </Action>
  );
}

function Actions({ keyView, isBanned, plans, failure }: ActionsProps) {
  if (keyView.status === "revoked") return <p class="muted">The key is revoked, which is permanent.</p>;
  const shared = { keyView, failure };
  const typedIn = (action: string) => (failure?.action === action ? failure.typed : {});
  const texts = textsOf(keyView);
  const ban = typedIn("ban");
  return (
    <>
      <Action {...shared} action="edit" title="Change key" texts={texts}>
        <KeyFields texts={{ ...texts, ...typedIn("edit") }} plans={plans} />
      </Action>
      <LimitAction {...shared} typed={typedIn("limit")} />
      {keyView.temporaryLimits !== null && (
        <Action {...shared} action="unlimit" title="End temporary limit">
          <p>The permanent limits apply from the next request on.</p>
        </Action>
      )}
      <Action {...shared} action="rotate" title="Rotate secret">
        <Select
          name="graceSeconds"
          form="rotate"
          label="Old secrets"
          value={typedIn("rotate").graceSeconds ?? "86400"}
          options={GRACE}
        />
      </Action>
      {isBanned && (
        <Action {...shared} action="lift" title="Lift ban">
          <p>The key works again on its next request. Its strikes begin anew.</p>
        </Action>
      )}
      <div class="danger-zone">
        <Action {...shared} action="ban" title={isBanned ? "Replace ban" : "Ban key"} isDangerous>
          <div class="pair">
            <Field
              name="amount"
              form="ban"
              label="For"
              type="number"
              value={ban.amount ?? "1"}
              attributes={{ min: 1, required: true }}
            />
            <Select name="unit" form="ban" label="Unit" value={ban.unit ?? "86400"} options={UNITS} />
          </div>
          <Field
            name="reason"
            form="ban"
            label="Reason"
            value={ban.reason}
            attributes={{ required: true, maxlength: 500 }}
          />
        </Action>
        {keyView.status === "disabled" ? (
          <Action {...shared} action="enable" title="Enable key">
            <p>The key works again on its next request.</p>
          </Action>
        ) : (
          <Action {...shared} action="disable" title="Disable key" isDangerous>
            <p>Every request with the key is a 401 until the key is enabled.</p>
          </Action>
        )}
        <Action {...shared} action="revoke" title="Revoke key" isDangerous>
          <p>Every request with the key is a 401 from now on. This cannot be undone.</p>
          <Check name="sure" label="Revoke it for good" attributes={{ required: true }} />
        </Action>
      </div>
    </>
  );
}

function Secrets({ keyView }: { readonly keyView: KeyView }) {
  const isValid = ({ expiresAt }: SecretView) => expiresAt === null || Date.parse(expiresAt) > Date.now();
  const canRetire = keyView.status !== "revoked" && keyView.secrets.filter(isValid).length > 1;
  const retire = (secret: SecretView): Child =>
    canRetire && isValid(secret) ? (
      <form method="post" action={`/console/keys/${keyView.id}/retire`}>
        <Basis version={keyView.version} />
        <input type="hidden" name="secret" value={secret.id} />
        <button type="submit" class="button small danger">
          Retire
        </button>
      </form>
    ) : undefined;
  return (
    <Table
      caption="Secrets"
      columns={[
        { name: "Secret", cell: ({ hint }) => <code>{hint}</code> },
        { name: "Created", cell: ({ createdAt }) => <Time iso={createdAt} /> },
        {
          name: "Valid until",
          cell: (secret) => (secret.expiresAt === null ? "no end" : <Time iso={secret.expiresAt} />),
        },
        ...(canRetire ? [{ name: "Action", cell: retire }] : []),
      ]}
      rows={keyView.secrets.toReversed()}
      empty="The key has no secret."
    />
  );
}

function RefusedMinutes({ hours }: { readonly hours: readonly HourUsage[] }) {
  const minutes = hours.flatMap(({ refusedMinutes }) => refusedMinutes);
  const shown = minutes.toReversed().slice(0, MINUTES_SHOWN);
  return (
    <Table
      caption="Minutes with refused requests"
      columns={[
        { name: "Minute", cell: ({ at }) => <Time iso={at} /> },
        {
          name: "Refused by",
          cell: ({ by }) =>
            Object.entries(by)
              .map(
                ([name, count]) => `${name === "ban" ? "ban" : `limit per ${name}`}: ${formatNumber(count)}`,
              )
              .join(", "),
        },
      ]}
      rows={shown}
      empty="No request was refused."
    />
  );
}

/** A ban by an operator is a change already. */
function History({ events, name }: { readonly events: readonly KeyEvent[]; readonly name: string }) {
  const shown = events.filter((event) => event.kind === "change" || event.ban.cause === "strikes");
  if (shown.length === 0) return <p class="muted">Nothing yet.</p>;
  return (
    <ol class="feed">
      {shown.map((event) =>
        event.kind === "change" ? (
          <Entry entry={event.change} sentence={sentenceOf(event.change, name)} />
        ) : (
          <li>
            <Time iso={event.at} /> <strong>The limiter</strong> banned the key for{" "}
            {formatNumber(event.ban.strikes)} strikes until <Time iso={event.ban.endsAt} />
          </li>
        ),
      )}
    </ol>
  );
}
