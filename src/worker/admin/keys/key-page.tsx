/** `/console/keys/{id}`: what a key does now, what happened to it, and what an operator can change. */
import { type Context, Hono } from "hono";
import type * as v from "valibot";
import type { ObjectSchema } from "../../check-schema.ts";
import { UsageChart } from "../../console/chart.tsx";
import { answerForm, type Failure, FailureNotice } from "../../console/failure.tsx";
import { Fields } from "../../console/fields.tsx";
import { addressOf, doneAddress, effectIn, isDone, sendForm } from "../../console/forms.ts";
import { type Typed, textsOf } from "../../console/members.ts";
import { page } from "../../console/page.tsx";
import {
  Action,
  Badge,
  Basis,
  Check,
  type Column,
  Facts,
  Gauge,
  MailTo,
  Notice,
  Owner,
  Relative,
  Table,
  Time,
} from "../../console/ui.tsx";
import type { AppEnv } from "../../context.ts";
import { openDatabase } from "../../db/database.ts";
import { formatNumber, formatTime } from "../../format.ts";
import { midnightAfter, nowSeconds, rfc3339 } from "../../time.ts";
import { Entry } from "../audit/entry.tsx";
import { banCalls } from "../bans/calls.ts";
import { banRequest } from "../bans/schema.ts";
import type { Call } from "../call.ts";
import type { PlanView } from "../plans/schema.ts";
import { listPlans } from "../plans/sql.ts";
import type { Effective } from "../tell-limiters.ts";
import type { HourUsage } from "../usage/schema.ts";
import { lastDays, lastHours, listHours, listUsageOverTime } from "../usage/service.ts";
import { keyCalls } from "./calls.ts";
import { listEvents } from "./history.ts";
import { secretPage } from "./issued-secret.tsx";
import { KeyFields } from "./key-fields.tsx";
import { look } from "./live.ts";
import {
  type KeyEvent,
  type KeyView,
  keyUpdate,
  type LiveUsage,
  rotation,
  type SecretView,
  temporaryLimits,
} from "./schema.ts";

type Changed = { readonly version: number; readonly effective: Effective };
type Change = {
  readonly call: Call<ObjectSchema, ObjectSchema, v.GenericSchema, Changed>;
  /** What a form without fields says. */
  readonly says?: Typed;
  readonly done: string;
};

/** The forms of the page, by the last part of their addresses. */
const CHANGES: Readonly<Record<string, Change>> = {
  edit: { call: keyCalls.update, done: "The key was changed." },
  disable: { call: keyCalls.update, says: { disabled: "true" }, done: "The key is disabled." },
  enable: { call: keyCalls.update, says: { disabled: "false" }, done: "The key is enabled." },
  limit: { call: keyCalls.limitTemporarily, done: "The key has temporary limits." },
  unlimit: { call: keyCalls.endTemporaryLimits, done: "The temporary limits were ended." },
  retire: { call: keyCalls.retire, done: "The secret is retired." },
  ban: { call: banCalls.set, done: "The key is banned." },
  lift: { call: banCalls.lift, done: "The ban was lifted." },
  revoke: { call: keyCalls.revoke, done: "The key is revoked." },
};

const EVENTS_SHOWN = 30;
const MINUTES_SHOWN = 60;

type KeyContext = Context<AppEnv, "/:id">;

export const keyPages = new Hono<AppEnv>()
  .get("/:id", (c) => showKey(c))
  // The answer of a form, opened again.
  .get("/:id/:action", (c) => c.redirect(`/console/keys/${encodeURIComponent(c.req.param("id"))}`));

for (const [action, { call, says }] of Object.entries(CHANGES)) {
  keyPages.post(`/:id/${action}`, (c: KeyContext) =>
    answerForm(c, action, showKey, async (typed) => {
      const id = c.req.param("id");
      const sent = says === undefined ? typed : { version: typed.version ?? "", ...says };
      const made = await sendForm(c, call, sent, { id, partId: typed.secret ?? "" });
      return c.redirect(doneAddress(`/console/keys/${id}`, action, made), 303);
    }),
  );
}

keyPages.post("/:id/rotate", (c) =>
  answerForm(c, "rotate", showKey, async (typed) => {
    const rotated = await sendForm(c, keyCalls.rotate, typed, { id: c.req.param("id") });
    return secretPage(c, "Secret rotated", rotated, `takes the new secret ${rotated.effective}.`);
  }),
);

async function showKey(c: KeyContext, failure?: Failure) {
  const id = c.req.param("id");
  const db = openDatabase(c.env.DB);
  const { key, live } = await look(c.env, id, "flushAndInspect");
  const [hours, days, history, plans] = await Promise.all([
    listHours(db, id, lastHours(7 * 24)),
    listUsageOverTime(db, { ...lastDays(30), key: id }, "day"),
    listEvents(db, id, { limit: EVENTS_SHOWN }),
    listPlans(db),
  ]);
  const isBanned = live?.ban != null || key.bannedUntil !== null;
  const [, change] = Object.entries(CHANGES).find(([action]) => isDone(c, action, key)) ?? [];
  return page(
    c,
    {
      title: key.name,
      actions: <Badge status={isBanned && key.status === "active" ? "banned" : key.status} />,
      status: failure?.status ?? 200,
    },
    <>
      {failure && <FailureNotice failure={failure} />}
      {change && (
        <Notice kind="good">
          <p>
            {change.done} It takes effect {effectIn(c)}.
          </p>
        </Notice>
      )}
      {live === null && (
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
      <Live live={live} />
      <div class="columns">
        <section>
          <h2>About</h2>
          <About keyView={key} plan={plans.find(({ id }) => id === key.plan)} />
        </section>
        {!c.var.mayOnlyRead && (
          <section>
            <h2>Actions</h2>
            <Actions keyView={key} isBanned={isBanned} plans={plans} failure={failure} />
          </section>
        )}
      </div>
      <section>
        <h2>Usage</h2>
        <UsageChart title="Last 48 hours" rows={hours.slice(-48)} by="hour" />
        <UsageChart title="Last 30 days" rows={days} by="day" />
      </section>
      <section>
        <h2>Refused requests, last 7 days</h2>
        <RefusedMinutes hours={hours} />
      </section>
      <section>
        <h2>Secrets</h2>
        <Secrets keyView={key} mayChange={!c.var.mayOnlyRead} />
      </section>
      <section>
        <h2>History</h2>
        <History events={history.events} />
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

type AboutProps = { readonly keyView: KeyView; readonly plan: PlanView | undefined };

function About({ keyView: key, plan }: AboutProps) {
  return (
    <Facts
      facts={[
        ["Owner", <Owner name={key.ownerName ?? key.ownerEmail} />],
        ["E-mail", key.ownerEmail ? <MailTo address={key.ownerEmail} /> : "–"],
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

type ActionsProps = {
  readonly keyView: KeyView;
  readonly isBanned: boolean;
  readonly plans: readonly PlanView[];
  readonly failure: Failure | undefined;
};

/** How long the old secrets stay valid, by seconds. */
const GRACE = {
  0: "end at once",
  3600: "stay valid for 1 hour",
  86400: "stay valid for 1 day",
  604800: "stay valid for 7 days",
  2592000: "stay valid for 30 days",
};

function Actions({ keyView, isBanned, plans, failure }: ActionsProps) {
  if (keyView.status === "revoked") return <p class="muted">The key is revoked, which is permanent.</p>;
  const { limits, version } = keyView;
  const formOf = (action: string, title: string) => ({
    title,
    version,
    address: `/console/keys/${keyView.id}/${action}`,
    isOpen: failure?.action === action,
  });
  const typedIn = (action: string) => (failure?.action === action ? failure.typed : {});
  const texts = textsOf(keyUpdate, keyView);
  const limitHint = (limit: number) => ({
    hint: `Now ${formatNumber(limit)}. Empty: no temporary limit.`,
  });
  const endOf = (days: number) => formatTime(rfc3339(midnightAfter(nowSeconds(), days)));
  return (
    <>
      <Action {...formOf("edit", "Change key")} texts={texts}>
        <KeyFields texts={{ ...texts, ...typedIn("edit") }} plans={plans} />
      </Action>
      <Action {...formOf("limit", "Set temporary limit")}>
        <Fields
          schema={temporaryLimits}
          form="limit"
          names={[["requestsPerMinute", "requestsPerDay"], "days", "reason"]}
          texts={{ days: "1", ...typedIn("limit") }}
          own={{
            requestsPerMinute: limitHint(limits.requestsPerMinute),
            requestsPerDay: limitHint(limits.requestsPerDay),
            days: { hint: `1: until ${endOf(1)}. 7: until ${endOf(7)}.` },
          }}
        />
      </Action>
      {keyView.temporaryLimits !== null && (
        <Action {...formOf("unlimit", "End temporary limit")}>
          <p>The permanent limits apply from the next request on.</p>
        </Action>
      )}
      <Action {...formOf("rotate", "Rotate secret")}>
        <Fields
          schema={rotation}
          form="rotate"
          names={["graceSeconds"]}
          texts={{ graceSeconds: "86400", ...typedIn("rotate") }}
          own={{ graceSeconds: { choices: GRACE } }}
        />
      </Action>
      {isBanned && (
        <Action {...formOf("lift", "Lift ban")}>
          <p>The key works again on its next request. Its strikes begin anew.</p>
        </Action>
      )}
      <div class="danger-zone">
        <Action {...formOf("ban", isBanned ? "Replace ban" : "Ban key")} isDangerous>
          <Fields
            schema={banRequest}
            form="ban"
            names={["seconds", "reason"]}
            texts={{ seconds: "1", "seconds.unit": "86400", ...typedIn("ban") }}
          />
        </Action>
        {keyView.status === "disabled" ? (
          <Action {...formOf("enable", "Enable key")}>
            <p>The key works again on its next request.</p>
          </Action>
        ) : (
          <Action {...formOf("disable", "Disable key")} isDangerous>
            <p>Every request with the key is a 401 until the key is enabled.</p>
          </Action>
        )}
        <Action {...formOf("revoke", "Revoke key")} isDangerous>
          <p>Every request with the key is a 401 from now on. This cannot be undone.</p>
          <Check name="sure" label="Revoke it for good" attributes={{ required: true }} />
        </Action>
      </div>
    </>
  );
}

function Secrets({ keyView, mayChange }: { readonly keyView: KeyView; readonly mayChange: boolean }) {
  const isValid = ({ expiresAt }: SecretView) => expiresAt === null || Date.parse(expiresAt) > Date.now();
  const canRetire = mayChange && keyView.status !== "revoked" && keyView.secrets.filter(isValid).length > 1;
  const retire: Column<SecretView>["cell"] = (secret) =>
    isValid(secret) ? (
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
function History({ events }: { readonly events: readonly KeyEvent[] }) {
  const shown = events.filter((event) => event.kind === "change" || event.ban.cause === "strikes");
  if (shown.length === 0) return <p class="muted">Nothing yet.</p>;
  return (
    <ol class="feed">
      {shown.map((event) =>
        event.kind === "change" ? (
          <Entry deed={[event.change]} when={<Time iso={event.at} />} />
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
