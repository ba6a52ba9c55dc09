/** `/console/plans`: the plans and their limits. */
import { Hono } from "hono";
import { type Failure, FailureNotice, failureOf } from "../../console/failure.tsx";
import { counted } from "../../console/format.ts";
import {
  accept,
  addressOf,
  changedIn,
  doneAddress,
  effectIn,
  formOf,
  isDone,
  numberOrNull,
  versionOf,
} from "../../console/forms.ts";
import { type ConsoleContext, page } from "../../console/page.tsx";
import { Basis, Field, Notice } from "../../console/ui.tsx";
import type { AppEnv } from "../../context.ts";
import { openDatabase } from "../../db/database.ts";
import { MAX_REQUESTS_PER_DAY, MAX_REQUESTS_PER_MINUTE } from "../../db/values.ts";
import { updatePlan } from "./change.ts";
import type { PlanView } from "./schema.ts";
import { planUpdate } from "./schema.ts";
import { listPlans } from "./sql.ts";

export const planPages = new Hono<AppEnv>()
  .get("/", (c) => plansPage(c))
  .get("/:id", (c) => c.redirect("/console/plans"))

  .post("/:id", async (c) => {
    const id = c.req.param("id");
    const typed = await formOf(c);
    const input = { env: c.env, author: c.var.author, id, expected: versionOf(typed) };
    try {
      const { requestsPerMinute, requestsPerDay } = changedIn(typed);
      const limits = accept(c, planUpdate, {
        ...(requestsPerMinute !== undefined && { requestsPerMinute: numberOrNull(requestsPerMinute) }),
        ...(requestsPerDay !== undefined && { requestsPerDay: numberOrNull(requestsPerDay) }),
      });
      const plan = await updatePlan({ ...input, body: limits });
      return c.redirect(doneAddress("/console/plans", id, plan), 303);
    } catch (thrown) {
      return plansPage(c, failureOf(thrown, id, typed));
    }
  });

async function plansPage(c: ConsoleContext, failure?: Failure) {
  const plans = await listPlans(openDatabase(c.env.DB));
  const changed = plans.find((plan) => isDone(c, plan.id, plan));
  return page(
    c,
    { title: "Plans", status: failure?.status ?? 200 },
    <>
      {changed && (
        <Notice kind="good">
          <p>
            The plan {changed.id} was changed. The change takes effect {effectIn(c)} for its keys.
          </p>
        </Notice>
      )}
      <p class="muted">
        The request limits of each plan. A key's own limits override those of its plan. An empty limit: each
        key of the plan has its own.
      </p>
      <div class="plans">
        {plans.map((plan) => (
          <Plan plan={plan} failure={failure?.action === plan.id ? failure : undefined} />
        ))}
      </div>
    </>,
  );
}

function Plan({ plan, failure }: { readonly plan: PlanView; readonly failure: Failure | undefined }) {
  const { id, version, keys } = plan;
  const shown = {
    requestsPerMinute: String(plan.requestsPerMinute ?? ""),
    requestsPerDay: String(plan.requestsPerDay ?? ""),
  };
  const limit = (name: "requestsPerMinute" | "requestsPerDay", label: string, max: number) => (
    <Field
      name={name}
      form={id}
      label={label}
      type="number"
      value={failure?.typed[name] ?? shown[name]}
      attributes={{ min: 1, max, inputmode: "numeric" }}
    />
  );
  return (
    <form method="post" action={`/console/plans/${id}`} class="panel" aria-label={`Plan ${id}`}>
      <div class="section-head">
        <h2>{id}</h2>
        <a href={addressOf("/console/keys", { plan: id })}>{counted(keys, "key")}</a>
      </div>
      <FailureNotice failure={failure} />
      <Basis version={version} texts={shown} />
      <div class="pair">
        {limit("requestsPerMinute", "Per minute", MAX_REQUESTS_PER_MINUTE)}
        {limit("requestsPerDay", "Per day", MAX_REQUESTS_PER_DAY)}
      </div>
      <button type="submit" class="button">
        Save
      </button>
    </form>
  );
}
