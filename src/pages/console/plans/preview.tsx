/** How many keys a change of a plan would touch, asked of the service before the change is made. */
import { useEffect, useState } from "preact/hooks";
import { counted, formatNumber } from "../../shared/format.ts";
import { jsonOf } from "../admin-client.ts";
import { useAdmin } from "../admin-context.ts";
import type { PlanPreview, PlanView } from "../api-types.ts";
import { limitOf } from "../keys/key-types.ts";
import { useLoad } from "../use-load.ts";

/** A pause in typing, before the service is asked. */
const PAUSE_MS = 300;

type Props = { readonly plan: PlanView; readonly perMinute: string; readonly perDay: string };

export function Preview({ plan, perMinute, perDay }: Props) {
  const [asked, setAsked] = useState({ perMinute, perDay });
  useEffect(() => {
    const timer = setTimeout(() => setAsked({ perMinute, perDay }), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [perMinute, perDay]);
  const { client } = useAdmin();
  const preview = useLoad(async () => {
    const json = { requestsPerMinute: limitOf(asked.perMinute), requestsPerDay: limitOf(asked.perDay) };
    const query = { "dry-run": "true" } as const;
    const answer = await jsonOf(client.plans[":id"].$patch({ param: { id: plan.id }, query, json }));
    return "isDryRun" in answer ? answer : undefined;
  }, JSON.stringify(asked));
  return <p role="status">{preview.data ? textOf(preview.data) : (preview.problem?.message ?? "…")}</p>;
}

function textOf({ keysRelying, keysInUse, refused }: PlanPreview): string {
  if (refused !== null) return `It would be refused: ${refused}`;
  const parts = [
    relyingText(keysRelying.requestsPerMinute, "per minute"),
    relyingText(keysRelying.requestsPerDay, "per day"),
  ].filter((part) => part !== undefined);
  if (parts.length === 0) return "Nothing is changed so far.";
  return `The change touches ${parts.join(" and ")}; ${inUseText(keysInUse)}.`;
}

function relyingText(count: number | undefined, limit: string): string | undefined {
  return count === undefined ? undefined : `the limit ${limit} of ${counted(count, "key")}`;
}

function inUseText({ count, isMinimum }: PlanPreview["keysInUse"]): string {
  return `${isMinimum ? "at least " : ""}${formatNumber(count)} of them ${count === 1 ? "is" : "are"} in use`;
}
