/** `/console` shows first what needs somebody, most urgent first, and then how many requests there were. */
import type { Child } from "hono/jsx";
import type { ReceiverView } from "../../admin/alerts/schema.ts";
import { banCalls } from "../../admin/bans/calls.ts";
import type { ListedBan } from "../../admin/bans/schema.ts";
import { showHealth } from "../../admin/health/calls.ts";
import { keyCalls } from "../../admin/keys/calls.ts";
import type { KeyView } from "../../admin/keys/schema.ts";
import { planCalls } from "../../admin/plans/calls.ts";
import type { PlanView } from "../../admin/plans/schema.ts";
import { endOfKey } from "../../admin/says.ts";
import { inputOf } from "../../admin/serve.ts";
import { usageCalls } from "../../admin/usage/calls.ts";
import { ADVICE_DAYS, type KeyUsageView } from "../../admin/usage/schema.ts";
import { NEAR_LIMIT_PERCENT } from "../../db/values.ts";
import { isUsable } from "../../key/key.ts";
import { counted, formatNumber, formatPercent, planName } from "../../text/format.ts";
import { daysBefore } from "../../text/time.ts";
import { AsOf, Totals, UsageChart } from "../kit/chart.tsx";
import { addressOf, ask } from "../kit/forms.ts";
import { Presets } from "../kit/list.tsx";
import { type ConsoleContext, docsUrl, page } from "../kit/page.tsx";
import { CreateKey, Customer, Live, Relative } from "../kit/ui.tsx";
import { BannedKey, BanReason, LiftForm } from "./bans.tsx";

const USAGE = "/console/usage";
const SHOWN = 10;
const EXPIRING_DAYS = 30;
const DAYS = 30;
/** What it asks costs more than what the page of a key does. */
const ASK_AGAIN_SECONDS = 60;

type Need = {
  readonly level: "bad" | "warn";
  readonly says: Child;
  readonly helps?: Child;
};

export async function overviewPage(c: ConsoleContext) {
  const expire = { status: "usable", expiringBefore: daysBefore(-EXPIRING_DAYS), sort: "expiry" };
  const limit = String(SHOWN);
  const [bans, near, requests, expiring, { plans }, health] = await Promise.all([
    ask(c, banCalls.list, { state: "live", limit }),
    ask(c, usageCalls.near, { limit }),
    ask(c, usageCalls.list, { by: "day", from: `${DAYS - 1}d` }),
    ask(c, keyCalls.list, { ...expire, limit }),
    planCalls.list.run(inputOf(c, {})),
    showHealth.run(inputOf(c, {})),
  ]);
  if (requests.by !== "day") throw new Error("usage by another group");
  const isCut = bans.next !== null || near.hasMoreKeys || expiring.next !== null;
  const needs: readonly Need[] = [
    ...health.problems.map((says) => needOf("bad", says, SYMPTOMS)),
    ...receiverNeeds(health.alerts),
    ...bans.bans.map((ban) => banNeed(ban, c.var.mayOnlyRead)),
    ...near.keys.flatMap((key) => nearNeed(key) ?? []),
    ...near.often.flatMap((key) => adviceNeed(key, plans) ?? []),
    ...expiring.keys.flatMap((key) => expiryNeed(key) ?? []),
    ...ofKeys(health.outdatedKeys, (keys) => `A change has not reached ${keys} yet.`),
    ...ofKeys(
      health.unreportedKeys,
      (keys) => `The latest usage of ${keys} may be missing: no report has come.`,
    ),
    ...health.wrongSettings.map(({ names, rule }) =>
      needOf(
        "warn",
        `A setting is wrong, and therefore off: ${names} ${rule}`,
        <a href={docsUrl("deploying.md#vars")}>The settings</a>,
      ),
    ),
  ];
  return page(
    c,
    { title: "Overview", actions: !c.var.mayOnlyRead && <CreateKey /> },
    <>
      <section>
        <h2>What needs you</h2>
        <Live seconds={ASK_AGAIN_SECONDS}>
          <Needs needs={needs} mayOnlyRead={c.var.mayOnlyRead === true} />
          {isCut && <p class="hint">Only the first {SHOWN} of a kind.</p>}
        </Live>
        <Presets
          links={[
            ["All banned keys", "/console/keys?status=banned"],
            ["All keys, by share of their limit", addressOf(USAGE, { sort: "percent" })],
            [`All keys that expire within ${EXPIRING_DAYS} days`, addressOf("/console/keys", expire)],
          ]}
        />
      </section>
      <section>
        <h2>Requests</h2>
        <Totals of={requests.total} />
        <UsageChart title={`Last ${DAYS} days`} rows={requests.rows} by="day" asOf={requests.asOf} />
        <Presets
          links={[
            ["By hour, and when requests were refused", addressOf(USAGE, { by: "hour", from: "6d" })],
            ["By key", USAGE],
          ]}
        />
        <p class="hint">
          <AsOf of={requests} />
        </p>
      </section>
    </>,
  );
}

const SYMPTOMS = <a href={docsUrl("runbook.md#symptoms")}>What to look at</a>;

function needOf(level: Need["level"], says: Child, helps?: Child): Need {
  return { level, says, helps };
}

function ofKeys(count: number, says: (keys: string) => string): Need[] {
  return count === 0 ? [] : [needOf("warn", says(counted(count, "key")), SYMPTOMS)];
}

function Needs({ needs, mayOnlyRead }: { readonly needs: readonly Need[]; readonly mayOnlyRead: boolean }) {
  if (needs.length === 0) {
    return (
      <p>
        <span class="badge good">healthy</span> Nothing needs you. The database and the counters of the keys
        answer.
      </p>
    );
  }
  return (
    <ol class="needs">
      {needs.map(({ level, says, helps }) => (
        <li class={level}>
          <span>{says}</span>
          {helps && !mayOnlyRead && <span class="helps">{helps}</span>}
        </li>
      ))}
    </ol>
  );
}

function receiverNeeds(receiver: ReceiverView | null): Need[] {
  if (receiver === null || receiver.state === "ok") return [];
  const says = `Alerts: ${receiver.says}`;
  return [needOf(receiver.state === "off" ? "bad" : "warn", says, <a href="/console/alerts">The alerts</a>)];
}

function banNeed(ban: ListedBan, mayOnlyRead: boolean | undefined): Need {
  const says = (
    <>
      <BannedKey ban={ban} /> of <Customer of={ban.customer} /> is banned, which ends{" "}
      <Relative iso={ban.endsAt} />: <BanReason ban={ban} />
    </>
  );
  return needOf("bad", says, !mayOnlyRead && <LiftForm ban={ban} />);
}

/** Of the limit of now: it may have changed since the key's last request of the day. */
function nearNeed({ keyId, keyName, customer, status, admitted, limits }: KeyUsageView): Need | undefined {
  const limit = limits.requestsPerDay;
  if (100 * admitted < NEAR_LIMIT_PERCENT * limit || !isUsable(status)) return undefined;
  const isReached = admitted >= limit;
  const says = (
    <>
      <a href={`/console/keys/${keyId}`}>{keyName}</a> of <Customer of={customer} />{" "}
      {isReached
        ? "has reached its limit of the day"
        : `has used ${formatPercent(admitted, limit)} of its day`}
      : {formatNumber(limit)} requests.
    </>
  );
  return needOf(
    isReached ? "bad" : "warn",
    says,
    <a href={`/console/keys/${keyId}/limit`}>Other limits for a time</a>,
  );
}

/** A key, and its days near the limit of now. */
type Near = Pick<KeyUsageView, "keyId" | "keyName" | "customer" | "status" | "plan" | "limits" | "daysNear">;

type Advice = { readonly says: Child; readonly helps: Child };

/**
 * Returns advice if the key was near its limit of now on most of the days. A larger plan does not help a key that
 * has a limit of its own.
 */
function adviceTo(near: Near, days: number, plans: readonly PlanView[]): Advice | undefined {
  const { customer, keyId, keyName, status, plan, limits, daysNear } = near;
  if (customer === null || !isUsable(status) || 2 * daysNear <= days) return undefined;
  const perDay = limits.requestsPerDay;
  const isOfPlan = plans.some(({ id, requestsPerDay }) => id === plan && requestsPerDay === perDay);
  const [next] = plans
    .filter(({ requestsPerDay }) => isOfPlan && requestsPerDay !== null && requestsPerDay > perDay)
    .toSorted((a, b) => (a.requestsPerDay ?? 0) - (b.requestsPerDay ?? 0));
  return {
    says: (
      <>
        <a href={`/console/keys/${keyId}`}>{keyName}</a> used 80 % of its limit or more on {daysNear} of{" "}
        {days} days. {formatNumber(perDay)} requests a day are too few.
      </>
    ),
    helps: (
      <a href={`/console/keys/${keyId}/edit`}>
        {next ? `Change the plan to ${planName(next.id)}` : "Give the key a higher limit"}
      </a>
    ),
  };
}

function adviceNeed(key: KeyUsageView, plans: readonly PlanView[]): Need | undefined {
  const advice = adviceTo(key, ADVICE_DAYS, plans);
  if (advice === undefined) return undefined;
  const says = (
    <>
      <Customer of={key.customer} />: {advice.says}
    </>
  );
  return needOf("warn", says, advice.helps);
}

function expiryNeed(key: KeyView): Need | undefined {
  const { id, name, customer } = key;
  const ends = endOfKey(key);
  if (ends === undefined) return undefined;
  const says = (
    <>
      <a href={`/console/keys/${id}`}>{name}</a> of <Customer of={customer} /> {ends.says}{" "}
      <Relative iso={ends.end} />.
    </>
  );
  const help = ends.remedy === "edit" ? "Change the expiry" : "Rotate secret";
  return needOf("warn", says, <a href={`/console/keys/${id}/${ends.remedy}`}>{help}</a>);
}
