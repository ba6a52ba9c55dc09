/** How much of its limits a key or a customer has used, at this moment. */
import type * as v from "valibot";
import type { liveWindow } from "../../admin/http/answer-schemas.ts";
import { Gauge, Relative } from "./ui.tsx";

type Window = v.InferOutput<typeof liveWindow> | null;
type Props = { readonly of: { readonly minute: Window; readonly day: Window }; readonly whose?: string };

export function WindowGauges({ of: { minute, day }, whose = "" }: Props) {
  return (
    <>
      {[["This minute", minute] as const, ["Today", day] as const].map(
        ([name, window]) =>
          window !== null && (
            <Gauge name={`${name}${whose}`} used={window.used} limit={window.limit}>
              Resets <Relative iso={window.resetsAt} />
            </Gauge>
          ),
      )}
    </>
  );
}
