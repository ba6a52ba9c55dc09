/** `plans …`: the limits of each plan. */
import { Argument, type Command } from "commander";
import * as v from "valibot";
import { PLAN_IDS } from "../../worker/db/values.ts";
import { arrayOf, count, effective } from "./answers.ts";
import { type LimitArgument, limitOrNone, limitsBody, requireChange } from "./arguments.ts";
import { confirm, YES } from "./confirm.ts";
import { type Cell, facts } from "./print.ts";
import { bodyOf, type Session, show, showList } from "./session.ts";

const limitOrNull = v.nullable(count);

const planShape = v.object({
  id: v.string(),
  requestsPerMinute: limitOrNull,
  requestsPerDay: limitOrNull,
});
const plansShape = v.object({ plans: arrayOf(v.object({ ...planShape.entries, keys: count })) });
const changedPlanShape = v.object({ ...planShape.entries, ...effective });
export function addPlanCommands(program: Command, session: () => Session): void {
  const plans = program.command("plans").description("list and change the limits of the plans");

  plans
    .command("list")
    .description("the limits of each plan, and how many keys it has")
    .action(() =>
      showList(session(), session().client.plans.$get(), plansShape, ({ plans: list }) => ({
        columns: [{ label: "plan" }, { label: "a minute" }, { label: "a day" }, { label: "keys" }],
        rows: list.map((plan) => [plan.id, plan.requestsPerMinute, plan.requestsPerDay, plan.keys]),
      })),
    );

  plans
    .command("set")
    .addArgument(new Argument("<plan>", "which plan").choices(PLAN_IDS))
    .description("change the limits of a plan for all its keys")
    .option("--per-minute <n>", "a number, or `none`: each key needs its own", limitOrNone)
    .option("--per-day <n>", "a number, or `none`: each key needs its own", limitOrNone)
    .option(...YES)
    .action(async (id: string, options: PlanLimits & { yes?: boolean }) => {
      const json = limitsBody(options);
      requireChange(json);
      await confirm(session(), options, () => describeChange(session(), id, options));
      await show(
        session(),
        session().client.plans[":id"].$patch({ param: { id }, json }),
        changedPlanShape,
        describePlan,
      );
    });
}

function describePlan(plan: v.InferOutput<typeof changedPlanShape>): string {
  return facts([...limitsOf(plan), ["effective", plan.effective]]);
}

function limitsOf(plan: v.InferOutput<typeof planShape>): [string, Cell][] {
  return [
    ["plan", plan.id],
    ["a minute", plan.requestsPerMinute],
    ["a day", plan.requestsPerDay],
  ];
}

type PlanLimits = { perMinute?: LimitArgument; perDay?: LimitArgument };

async function describeChange({ client, access }: Session, id: string, to: PlanLimits): Promise<string> {
  const { plans } = await bodyOf(access, client.plans.$get(), plansShape);
  const plan = plans.find((each) => each.id === id);
  const changes = [
    ...(to.perMinute === undefined
      ? []
      : [`${plan?.requestsPerMinute ?? "none"} → ${to.perMinute} a minute`]),
    ...(to.perDay === undefined ? [] : [`${plan?.requestsPerDay ?? "none"} → ${to.perDay} a day`]),
  ];
  return `Plan ${id}, which ${plan?.keys} keys have: ${changes.join(", ")}.`;
}
