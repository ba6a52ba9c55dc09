/** `/console/keys/{id}` shows problems, usage, history and actions of a key. */
import { type Context, Hono } from "hono";
import type { Child } from "hono/jsx";
import type * as v from "valibot";
import { auditCalls } from "../../../admin/audit/calls.ts";
import type { AuditView } from "../../../admin/audit/schema.ts";
import { banCalls } from "../../../admin/bans/calls.ts";
import type { BanView } from "../../../admin/bans/schema.ts";
import { keyCalls } from "../../../admin/keys/calls.ts";
import type { KeyView, LiveUsage, rotatedKey } from "../../../admin/keys/schema.ts";
import { planCalls } from "../../../admin/plans/calls.ts";
import type { LimitName } from "../../../admin/plans/schema.ts";
import { lastEndOf, RIGHTS } from "../../../admin/says.ts";
import { inputOf } from "../../../admin/serve.ts";
import type { AppEnv } from "../../../context.ts";
import { counted, formatNumber, formatTime, planName } from "../../../text/format.ts";
import { daysBefore } from "../../../text/time.ts";
import { ActionForm, ActionLinks, addActionPages } from "../../kit/actions.tsx";
import { RangeLinks, rangeIn, UsageChart } from "../../kit/chart.tsx";
import { chosenDay, DayLine, dayAddress } from "../../kit/day.tsx";
import { Done } from "../../kit/done.tsx";
import type { Failure } from "../../kit/failure.tsx";
import { addressOf, ask, doneAddress, effectIn, isDone, knownCustomers } from "../../kit/forms.ts";
import { HEAT_DAYS, HeatMap } from "../../kit/heat.tsx";
import { Presets } from "../../kit/list.tsx";
import { docsUrl, LIVE, page } from "../../kit/page.tsx";
import {
  Badge,
  Copy,
  Customer,
  Day,
  Definitions,
  MailTo,
  NONE,
  Notice,
  Relative,
  Table,
  Time,
} from "../../kit/ui.tsx";
import { WindowGauges } from "../../kit/windows.tsx";
import { Entry } from "../audit/entry.tsx";
import { secretPage } from "./issued-secret.tsx";
import {
  ACTIONS,
  addressOfKey,
  type ChangedKey,
  offered,
  permanentLimit,
  type ShownKey,
} from "./key-actions.tsx";
import { Problems } from "./key-problems.tsx";

const EVENTS_SHOWN = 5;

type KeyContext = Context<AppEnv, "/:id/:action?">;

export const keyPages = new Hono<AppEnv>();

addActionPages(keyPages, ACTIONS, showKey, (c, name, made) => {
  const isNew = made.customerCreated ? { customer: "new" } : {};
  const address = doneAddress(addressOfKey(c.req.param("id")), name, made, isNew);
  if (!hasSecret(made)) return c.redirect(address, 303);
  return secretPage(c, { title: "Secret rotated", made, oldSecretsEnd: lastEndOf(made.secrets) });
});

function hasSecret(made: ChangedKey): made is v.InferOutput<typeof rotatedKey> {
  return "key" in made;
}

async function showKey(c: KeyContext, failure?: Failure) {
  if (c.req.query(LIVE) !== undefined) return showNow(c);
  const id = c.req.param("id");
  const path = addressOfKey(id);
  const { live, whyRefused, ...key } = await keyCalls.show.run(inputOf(c, { id }));
  const shownRange = rangeIn(c, "24h");
  const open = failure?.action ?? c.req.param("action");
  const limit = String(EVENTS_SHOWN);
  const [changes, bans, { rows: hours }, usage, { plans }, customers, day] = await Promise.all([
    ask(c, auditCalls.list, { object: id, limit }),
    ask(c, banCalls.list, { key: id, limit }),
    ask(c, keyCalls.usage, { by: "hour", from: daysBefore(HEAT_DAYS - 1) }, id),
    ask(c, keyCalls.usage, { by: shownRange.by, from: shownRange.from }, id),
    planCalls.list.run(inputOf(c, {})),
    open === "edit" ? knownCustomers(c) : [],
    chosenDay(c, "key", id),
  ]);
  const isBanned = live?.ban != null || key.bannedUntil !== null;
  const shown: ShownKey = { key, isBanned, plans, customers };
  return page(
    c,
    {
      title: key.name,
      actions: (
        <>
          <Badge status={isBanned && key.status === "active" ? "banned" : key.status} />
          {!c.var.mayOnlyRead && <ActionLinks of={offered(shown)} open={open} />}
        </>
      ),
      status: failure?.status ?? 200,
    },
    <>
      {Object.keys(ACTIONS).some((name) => isDone(c, name, key)) && (
        <Done
          subject={key.name}
          version={key.version}
          entries={changes.audit}
          effective={effectIn(c)}
          mayUndo={!c.var.mayOnlyRead}
        >
          {c.req.query("customer") === "new" && key.customer !== null && (
            <>
              <Customer of={key.customer} /> is a new customer.
            </>
          )}
        </Done>
      )}
      <ActionForm of={offered(shown)} open={open} failure={failure} />
      <div data-live={`?${LIVE}=yes`}>
        <NowOfKey shown={shown} live={live} whyRefused={whyRefused} mayChange={!c.var.mayOnlyRead} />
      </div>
      <section>
        <div class="section-head">
          <h2>Usage</h2>
          <RangeLinks c={c} shown={shownRange} />
        </div>
        <UsageChart
          title={`Last ${shownRange.name}`}
          rows={usage.rows}
          by={shownRange.by}
          asOf={usage.asOf}
        />
      </section>
      <section id="refused">
        <h2>When requests were refused</h2>
        <HeatMap
          caption={`Refused requests of the last ${HEAT_DAYS} days, by hour`}
          rows={hours}
          dayAddress={(each) => dayAddress(path, each)}
        />
      </section>
      <DayLine path={path} chosen={c.req.query("day")} day={day} ofKey />
      <div class="columns">
        <section>
          <h2>About</h2>
          <About shown={shown} lastUsedAt={live?.lastUsedAt ?? null} />
        </section>
        <div>
          <section id="secrets">
            <h2>Secrets</h2>
            <Secrets keyView={key} />
          </section>
        </div>
      </div>
      <section>
        <h2>History</h2>
        <History changes={changes.audit} bans={bans.bans} mayUndo={!c.var.mayOnlyRead} />
        <Presets links={[["All changes", addressOf("/console/audit", { object: id })]]} />
      </section>
    </>,
  );
}

type NowProps = {
  readonly shown: ShownKey;
  readonly live: LiveUsage | null;
  readonly whyRefused: readonly string[];
  readonly mayChange: boolean;
};

/** What the page asks for again by itself. */
function NowOfKey({ shown, live, whyRefused, mayChange }: NowProps) {
  return (
    <>
      <Problems shown={shown} live={live} mayChange={mayChange} />
      <WhyRefused sentences={whyRefused} />
      <Live live={live} />
      <p class="hint">
        As of <time datetime={new Date().toISOString()}>{new Date().toISOString().slice(11, 19)} UTC</time>
      </p>
    </>
  );
}

async function showNow(c: KeyContext) {
  const { live, whyRefused, ...key } = await keyCalls.show.run(inputOf(c, { id: c.req.param("id") }));
  const { plans } = await planCalls.list.run(inputOf(c, {}));
  const shown: ShownKey = {
    key,
    isBanned: live?.ban != null || key.bannedUntil !== null,
    plans,
    customers: [],
  };
  return c.html(
    <NowOfKey shown={shown} live={live} whyRefused={whyRefused} mayChange={!c.var.mayOnlyRead} />,
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

function Live({ live }: { readonly live: LiveUsage | null }) {
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
            <code id="key-id">{key.id}</code> <Copy of="key-id" isSmall />
          </>,
        ],
        ["Customer", <Customer of={key.customer} />],
        ...(key.customer?.email ? [["E-mail", <MailTo address={key.customer.email} />] as const] : []),
        ["Plan", planName(key.plan)],
        ["Rights", RIGHTS[`${key.mayCancel}`]],
        ["Per minute", limitText(shown, "requestsPerMinute")],
        ["Per day", limitText(shown, "requestsPerDay")],
        ["Expires", endOf(key, "never")],
        ["Created", <Time iso={key.createdAt} />],
        ["First used", <Time iso={key.firstUsedAt} />],
        ["Last used", lastUsedAt === null ? <Day iso={key.lastUsedDay} /> : <LastUse iso={lastUsedAt} />],
        ...(key.location === null ? [] : [["Location", key.location] as const]),
        ...(key.note === null ? [] : [["Note", key.note] as const]),
      ]}
    />
  );
}

/** A revoked key has ended, whatever its expiry says. */
function endOf({ status, expiresAt }: Pick<KeyView, "status" | "expiresAt">, none: string): Child {
  if (status === "revoked") return "revoked";
  return expiresAt === null ? none : <Time iso={expiresAt} />;
}

function LastUse({ iso }: { readonly iso: string }) {
  return (
    <>
      <Time iso={iso} /> (<Relative iso={iso} />)
    </>
  );
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

type HistoryProps = {
  readonly changes: readonly AuditView[];
  readonly bans: readonly BanView[];
  readonly mayUndo: boolean;
};

/** Bans by operators are among the changes. */
function History({ changes, bans, mayUndo }: HistoryProps) {
  const events = [
    ...changes.map((change) => {
      const item = <Entry deed={[change]} when={<Time iso={change.at} />} mayUndo={mayUndo} />;
      return { at: change.at, item };
    }),
    ...bans
      .filter(({ cause }) => cause === "strikes")
      .map(({ startedAt: at, strikes, endsAt }) => {
        const item = (
          <li>
            <Time iso={at} /> <strong>The service</strong> banned the key for {counted(strikes, "second")}{" "}
            over the limit until <Time iso={endsAt} />
          </li>
        );
        return { at, item };
      }),
  ].toSorted((a, b) => b.at.localeCompare(a.at));
  if (events.length === 0) return <p class="muted">Nothing yet.</p>;
  return <ol class="feed">{events.slice(0, EVENTS_SHOWN).map(({ item }) => item)}</ol>;
}
