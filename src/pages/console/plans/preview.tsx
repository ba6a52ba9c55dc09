/** How many keys a change of a plan would touch, asked of the service before the change is made. */
import { useEffect, useState } from "preact/hooks";
import { counted, formatNumber } from "../../shared/format.ts";
import { jsonOf } from "../admin-client.ts";
import { useAdmin } from "../admin-context.ts";
import type { PlanPreview, PlanView } from "../api-types.ts";
import { useLoad } from "../use-load.ts";

/** A pause in typing, before the service is asked. */
const PAUSE_MS = 300;

/** The limits that would be sent. */
type Changes = Partial<Pick<PlanView, "requestsPerMinute" | "requestsPerDay">>;

type Props = { readonly planId: string; readonly changes: Changes };

export function Preview({ planId, changes }: Props) {
  const typed = JSON.stringify(changes);
  const [asked, setAsked] = useState(typed);
  useEffect(() => {
    const timer = setTimeout(() => setAsked(typed), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [typed]);
  const { client } = useAdmin();
  const preview = useLoad(async () => {
    const json: Changes = JSON.parse(asked); // made from Changes above
    if (Object.keys(json).length === 0) return "Nothing is changed so far.";
    const query = { "dry-run": "true" } as const;
    const call = client.plans[":id"].$patch({ param: { id: planId }, query, json });
    const answer = await jsonOf(call, "keysRelying", "keysInUse");
    return "isDryRun" in answer ? textOf(answer) : undefined;
  }, asked);
  return <p role="status">{preview.data ?? preview.problem?.message ?? "…"}</p>;
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
