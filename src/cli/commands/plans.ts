/** `plans …`: the limits of each plan. */
import { Argument, type Command } from "commander";
import type { InferResponseType } from "hono/client";
import { PLAN_IDS } from "../../worker/db/values.ts";
import type { AdminClient } from "../admin-client.ts";
import { confirm, given, numberOrNone, type OrNone, orNull, requireChange, YES } from "../arguments.ts";
import { bodyOf, type Column, type Session, show, showList } from "../session.ts";

type Plan = InferResponseType<AdminClient["plans"]["$get"]>["plans"][number];

const COLUMNS: readonly Column<Plan>[] = [
  ["id", "plan", (plan) => plan.id],
  ["requestsPerMinute", "a minute", (plan) => plan.requestsPerMinute],
  ["requestsPerDay", "a day", (plan) => plan.requestsPerDay],
  ["keys", "keys", (plan) => plan.keys],
];

type Limits = { perMinute?: OrNone<number>; perDay?: OrNone<number> };

export function addPlanCommands(program: Command, session: () => Session): void {
  const plans = program.command("plans").description("list and change the limits of the plans");

  plans
    .command("list")
    .description("the limits of each plan, and how many keys it has")
    .action(() =>
      showList(session(), {
        name: "plans",
        columns: COLUMNS,
        range: { limit: PLAN_IDS.length },
        fetchPage: () => bodyOf(session().client.plans.$get()),
      }),
    );

  plans
    .command("set")
    .addArgument(new Argument("<plan>", "which plan").choices(PLAN_IDS))
    .description("change the limits of a plan for all its keys")
    .option("--per-minute <n>", "a number; none: each key needs its own", numberOrNone)
    .option("--per-day <n>", "a number; none: each key needs its own", numberOrNone)
    .option(...YES)
    .action(async (id: string, { yes = false, ...limits }: Limits & { yes?: boolean }) => {
      const json = given({
        requestsPerMinute: orNull(limits.perMinute),
        requestsPerDay: orNull(limits.perDay),
      });
      requireChange(json);
      await confirm(session().io, { yes }, () => describeChange(session(), id, limits));
      await show(session(), session().client.plans[":id"].$patch({ param: { id }, json }));
    });
}

async function describeChange(
  { client }: Session,
  id: string,
  { perMinute, perDay }: Limits,
): Promise<string> {
  const { plans } = await bodyOf(client.plans.$get());
  const plan = plans.find((each) => each.id === id);
  const changes = [
    ...(perMinute === undefined ? [] : [`${plan?.requestsPerMinute ?? "none"} → ${perMinute} a minute`]),
    ...(perDay === undefined ? [] : [`${plan?.requestsPerDay ?? "none"} → ${perDay} a day`]),
  ];
  return `Plan ${id}, which ${plan?.keys} keys have: ${changes.join(", ")}.`;
}
