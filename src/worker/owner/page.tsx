/** What an owner sees with a link: keys, use, limits, bans and refusals. Nothing else than a rotation changes. */
import type * as v from "valibot";
import { banCalls } from "../admin/bans/calls.ts";
import type { ListedBan } from "../admin/bans/schema.ts";
import { customerCalls } from "../admin/customers/calls.ts";
import { inspectCustomer } from "../admin/customers/inspect.ts";
import { reportQuery } from "../admin/customers/schema.ts";
import { checked } from "../admin/http/request-validation.ts";
import { keyCalls } from "../admin/keys/calls.ts";
import { rotateKey } from "../admin/keys/change/secrets.ts";
import { findKey } from "../admin/keys/find.ts";
import { type inspectedKey, type KeyView, rotation, type SecretView } from "../admin/keys/schema.ts";
import { rotationRefusal } from "../admin/links/sql.ts";
import { lastUseOf, validOf } from "../admin/says.ts";
import { fileOf, inputOf } from "../admin/serve.ts";
import { usageCalls } from "../admin/usage/calls.ts";
import { AsOf, UsageChart } from "../console/kit/chart.tsx";
import { ask, formOf, queryOf } from "../console/kit/forms.ts";
import { barePage, type ConsoleContext } from "../console/kit/page.tsx";
import { MonthReport, monthName } from "../console/kit/report.tsx";
import {
  Badge,
  Definitions,
  Field,
  Gauge,
  MailTo,
  Notice,
  ShownOnce,
  Submit,
  Time,
  WindowGauges,
} from "../console/kit/ui.tsx";
import { isKeyId, isUsable } from "../key/key.ts";
import { invalidRequest, notFound } from "../platform/errors.ts";
import { settingsOf } from "../platform/settings.ts";
import { counted, formatNumber, formatPercent } from "../text/format.ts";
import { plansOf } from "../text/says.ts";
import { rfc3339 } from "../text/time.ts";

const DAYS = 30;
const KEYS_SHOWN = 50;
/** Each costs a call of its limiter and two queries more. */
const KEYS_IN_FULL = 10;
const BANS_COUNTED = 100;
/** Never at once: a stolen link must not stop the owner's programs. */
const GRACE: readonly (readonly [seconds: string, says: string])[] = [
  ["3600", "for 1 hour"],
  ["86400", "for 1 day"],
  ["604800", "for 7 days"],
];

type Shown = KeyView & Partial<Pick<v.InferOutput<typeof inspectedKey>, "live" | "whyRefused">>;

export async function showKeys(c: ConsoleContext) {
  const { customerId: customer, customerName, endsAt } = c.var.ownerLink;
  const contact = settingsOf(c.env).supportContact;
  const [{ keys, next }, { bans, next: earlierBans }, today, days] = await Promise.all([
    ask(c, keyCalls.list, { customer, status: "not-revoked", sort: "name", limit: String(KEYS_SHOWN) }),
    ask(c, banCalls.list, { customer, limit: String(BANS_COUNTED) }),
    ask(c, usageCalls.list, { customer }),
    ask(c, usageCalls.list, { customer, by: "day", from: `${DAYS - 1}d` }),
  ]);
  if (today.by !== "key" || days.by !== "day") throw new Error("usage by another group");
  const used = new Map(today.rows.map((row) => [row.keyId, row.admitted]));
  const ownBans = bans.filter(({ keyId }) => keys.some(({ id }) => id === keyId));
  const equalBans = [...Map.groupBy(ownBans, ({ keyId, cause }) => `${keyId} ${cause}`).values()];
  const [{ live }, ...shown] = await Promise.all([
    inspectCustomer(c.env, customer),
    ...keys.map<Shown | Promise<Shown>>((key, i) =>
      i < KEYS_IN_FULL ? findKey(c.env, key.id, customer) : key,
    ),
  ]);
  return ownerPage(
    c,
    customerName,
    <>
      <p>
        <a href="/docs">How to use a key</a>
        {contact !== undefined && (
          <>
            . Questions:{" "}
            {contact.startsWith("https:") ? <a href={contact}>{contact}</a> : <MailTo address={contact} />}
          </>
        )}
      </p>
      <p>
        Whoever has your link sees this page until <Time iso={rfc3339(endsAt)} />, and can make new secrets.
        The link stays in the history of this browser, also when you have closed the page: on a computer that
        others use, delete it there.
      </p>
      {live !== null && (
        <section class="tiles" aria-label="Limit of all keys">
          <WindowGauges of={live} whose=", all your keys" />
        </section>
      )}
      {shown.length === 0 && <p>You have no key at the moment.</p>}
      {shown.map((key) => (
        <KeyPart of={key} usedToday={used.get(key.id) ?? 0} />
      ))}
      {next !== null && <p class="hint">The first {KEYS_SHOWN} keys.</p>}
      <section>
        <h2>Requests</h2>
        <UsageChart title={`Last ${DAYS} days`} rows={days.rows} by="day" asOf={days.asOf} />
        <p>
          Requests: {formatNumber(days.total.admitted)} answered, {formatNumber(days.total.refused)} refused
          because a limit was used up, and {formatNumber(days.total.refusedWhileBanned)} during bans.
        </p>
        <p class="hint">
          <AsOf of={{ ...days, unreachable: [] }} /> <a href="/owner/report">The report of last month</a>
        </p>
      </section>
      <section>
        <h2>Bans</h2>
        {equalBans.length === 0 && <p>None of your keys was banned.</p>}
        <ul>
          {equalBans.map((equal) => (
            <li>
              <BanSentence bans={equal} />
            </li>
          ))}
        </ul>
        {earlierBans !== null && <p class="hint">Of the last {BANS_COUNTED} bans.</p>}
      </section>
      <form method="post" action="/owner/leave">
        <Submit>Close this page</Submit>
      </form>
    </>,
  );
}

function KeyPart({ of: key, usedToday }: { readonly of: Shown; readonly usedToday: number }) {
  const { limits, temporaryLimits, live, whyRefused = [] } = key;
  return (
    <section class="panel">
      <h2>
        {key.name} <Badge status={key.status} />
      </h2>
      {key.bannedUntil !== null && (
        <Notice kind="bad">
          Requests of this key are refused until <Time iso={key.bannedUntil} />.
        </Notice>
      )}
      <Gauge name="Today (UTC)" used={usedToday} limit={limits.requestsPerDay}>
        {formatPercent(usedToday, limits.requestsPerDay)}
        {live && `; in this minute ${formatNumber(live.minute.used)} of ${formatNumber(live.minute.limit)}`}
      </Gauge>
      <Definitions
        facts={[
          ["Plan", plansOf(key)],
          [
            "Limits",
            <>
              {formatNumber(limits.requestsPerMinute)} requests a minute,{" "}
              {formatNumber(limits.requestsPerDay)} a day
              {temporaryLimits !== null && (
                <>
                  , until <Time iso={temporaryLimits.until} />
                </>
              )}
            </>,
          ],
          ["Secrets", <ValidSecrets of={key.secrets} />],
          ["Orders", !key.mayCancel && "may be listed, not cancelled"],
          ["The key ends", key.expiresAt === null ? "never" : <Time iso={key.expiresAt} />],
        ]}
      />
      {whyRefused.map((sentence) => (
        <p>{sentence}</p>
      ))}
      {isUsable(key.status) && <RotateForm id={key.id} version={key.version} />}
    </section>
  );
}

function ValidSecrets({ of: secrets }: { readonly of: readonly SecretView[] }) {
  return (
    <ul>
      {validOf(secrets, Date.now()).map((secret) => (
        <li>
          ends with <code>{secret.hint.slice(-4)}</code>, {lastUseOf(secret, Date.now())}
          {secret.expiresAt !== null && (
            <>
              , valid until <Time iso={secret.expiresAt} />
            </>
          )}
        </li>
      ))}
    </ul>
  );
}

function RotateForm({ id, version }: { readonly id: string; readonly version: number }) {
  return (
    <details>
      <summary>New secret</summary>
      <form method="post" action="/owner/rotate">
        <input type="hidden" name="key" value={id} />
        <input type="hidden" name="version" value={String(version)} />
        <Field
          name="graceSeconds"
          label="The old secrets stay valid"
          value="86400"
          form={id}
          options={GRACE}
          hint="Give the new secret to your programs in this time."
        />
        <Submit>Make a new secret</Submit>
      </form>
    </details>
  );
}

/** Bans of one key with one cause, the newest first. The reason that an operator typed is for operators. */
function BanSentence({ bans: [last, ...others] }: { readonly bans: readonly ListedBan[] }) {
  if (last === undefined) return null;
  const { keyName, keyId, cause, strikes, startedAt, endsAt, liftedAt } = last;
  return (
    <>
      {keyName ?? keyId}: {others.length > 0 && `banned ${others.length + 1} times, last `}from{" "}
      <Time iso={startedAt} /> until <Time iso={liftedAt ?? endsAt} />,{" "}
      {cause === "strikes"
        ? `because it went on in ${counted(strikes, "second")} after it was told to wait`
        : "by an operator"}
      .
    </>
  );
}

/** The customer sees the report that operators see. */
export async function showReport(c: ConsoleContext) {
  const query = queryOf(c, reportQuery);
  const asked = { id: c.var.ownerLink.customerId, query };
  if (query.format === "csv") return fileOf(c, customerCalls.report, asked);
  const report = await customerCalls.report.run(inputOf(c, asked));
  return ownerPage(
    c,
    `${report.customer.name}, ${monthName(report.month)}`,
    <>
      <p class="presets">
        <a href="/owner">Your keys</a>
      </p>
      <MonthReport c={c} report={report} />
    </>,
  );
}

/** The version is that of the page, so that a form that is sent again does nothing. The batch asks for the link, too. */
export async function rotate(c: ConsoleContext) {
  const { key: id = "", version = "", graceSeconds = "" } = await formOf(c);
  const link = c.var.ownerLink;
  if (!GRACE.some(([seconds]) => seconds === graceSeconds))
    throw invalidRequest("Choose how long the old secrets stay valid.");
  const { keys } = isKeyId(id)
    ? await ask(c, keyCalls.list, { ref: id, customer: link.customerId })
    : { keys: [] };
  const [key] = keys;
  if (key === undefined) throw notFound("You have no such key.");
  if (String(key.version) !== version)
    throw invalidRequest("The key was changed meanwhile. Nothing was done: look at your keys again.");
  const body = checked(c.env, rotation, { graceSeconds: Number(graceSeconds) });
  const input = { ...inputOf(c, { id, body }), expected: key.version };
  const rotated = await rotateKey(input, rotationRefusal(link, input.author.at));
  return ownerPage(
    c,
    `New secret of ${key.name}`,
    <>
      <Notice kind="good">
        <p>
          <strong>The secret is shown once.</strong> Copy it now: the service stores only its hash.
        </p>
        <ShownOnce text={rotated.key} />
      </Notice>
      <p>The old secrets:</p>
      <ValidSecrets of={rotated.secrets.filter(({ expiresAt }) => expiresAt !== null)} />
      <p>
        <a href="/owner">All my keys</a>
      </p>
    </>,
  );
}

function ownerPage(c: ConsoleContext, title: string, content: Parameters<typeof barePage>[2]) {
  return barePage(c, { title }, content, "/owner");
}
