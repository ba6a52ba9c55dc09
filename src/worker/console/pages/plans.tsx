/** `/console/plans` lists the plans. A plan's own address has the form that changes its limits, too. */
import { Hono } from "hono";
import type * as v from "valibot";
import { auditCalls } from "../../admin/audit/calls.ts";
import { planCalls } from "../../admin/plans/calls.ts";
import {
  alertsAt,
  LIMITS,
  limitsInWords,
  type PlanView,
  planUpdate,
  type updatedPlan,
} from "../../admin/plans/schema.ts";
import { inputOf } from "../../admin/serve.ts";
import type { AppEnv } from "../../context.ts";
import { notFound } from "../../platform/errors.ts";
import { formatDay, formatNumber, planName } from "../../text/format.ts";
import { type ActionContext, type Actions, addActionPages, offeredOf } from "../kit/actions.tsx";
import type { Failure } from "../kit/failure.tsx";
import { Fields } from "../kit/fields.tsx";
import { addressOf, doneAddress } from "../kit/forms.ts";
import { labelOf } from "../kit/labels.ts";
import { textsOf } from "../kit/members.ts";
import { objectPage } from "../kit/object.tsx";
import { type ConsoleContext, docsUrl, page } from "../kit/page.tsx";
import { type Column, NONE, ShownCount, Table } from "../kit/ui.tsx";

const PATH = "/console/plans";

const PLAN_ACTIONS: Actions<PlanView, v.InferOutput<typeof updatedPlan>> = {
  edit: {
    call: planCalls.update,
    title: ({ id }) => `Change ${planName(id)}`,
    texts: (plan) => textsOf(planUpdate, plan),
    sendsChanges: true,
    form: (_, texts, failure) => (
      <Fields
        schema={planUpdate}
        names={[LIMITS, "alertPercents"]}
        own={{ alertPercents: { hint: "As in 80, 100. Empty: none." } }}
        texts={texts}
        failure={failure}
      />
    ),
    does: ({ body }, { id }) => `Set ${limitsInWords(body) || "alerts"} for ${planName(id)}`,
  },
};

export const planPages = new Hono<AppEnv>().get("/", (c) => plansPage(c));

addActionPages(planPages, PLAN_ACTIONS, plansPage, (c, _, plan) =>
  c.redirect(doneAddress(`${PATH}/${plan.id}`, plan), 303),
);

async function plansPage(c: ActionContext, failure?: Failure) {
  const { plans } = await planCalls.list.run(inputOf(c, {}));
  const id = c.req.param("id");
  const shown = plans.find((plan) => plan.id === id);
  if (id !== undefined && shown === undefined) throw notFound("No plan has this id.");
  const { audit } = await auditCalls.list.run(inputOf(c, { query: { object: id, limit: 1 } }));
  const content = (
    <>
      <p class="muted">
        The request limits of each plan. A key's own limits override those of its plan. <em>Of each key</em>:
        the plan has no limit, and each of its keys has its own.{" "}
        <a href={docsUrl("operate.md#plans")}>More about plans</a>
      </p>
      <Table caption="Plans" columns={columnsFor(c)} rows={plans} empty="There is no plan." />
    </>
  );
  if (shown === undefined) return page(c, { title: "Plans" }, content);
  const { version } = shown;
  const offered = {
    ...{ shown, actions: offeredOf(PLAN_ACTIONS, shown) },
    ...{ address: `${PATH}/${shown.id}`, version },
  };
  const title = `Plan ${planName(shown.id)}`;
  return objectPage(c, { title, offered, failure, entries: audit }, content);
}

function columnsFor(c: ConsoleContext): readonly Column<PlanView>[] {
  const limits = LIMITS.map((name) => ({
    name: labelOf(name),
    isNumber: true,
    cell: ({ [name]: limit }: PlanView) => (limit === null ? "of each key" : formatNumber(limit)),
  }));
  const change = ({ id }: PlanView) => (
    <a href={`${PATH}/${id}/edit`}>
      Change <span class="sr-only">{planName(id)}</span>
    </a>
  );
  return [
    { name: "Plan", cell: ({ id }) => planName(id) },
    ...limits,
    {
      name: "Keys",
      isNumber: true,
      cell: ({ id, keys }) => (
        <a href={addressOf("/console/keys", { plan: id })}>
          <ShownCount value={keys} />
        </a>
      ),
    },
    { name: "Alerts", cell: ({ alertPercents }) => alertsAt(alertPercents) },
    {
      name: "Last change",
      cell: ({ id, changedAt }) =>
        changedAt === null ? (
          NONE
        ) : (
          <a href={addressOf("/console/audit", { object: id })}>{formatDay(changedAt)}</a>
        ),
    },
    ...(c.var.mayOnlyRead ? [] : [{ name: "Action", isClear: true, cell: change }]),
  ];
}
