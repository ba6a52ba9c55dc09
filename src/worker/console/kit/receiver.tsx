/** Whether alerts arrive: a number in the navigation of each page. */
import type { Context } from "hono";
import { receiverOf } from "../../admin/alerts/receiver.ts";
import type { ReceiverView } from "../../admin/alerts/schema.ts";
import type { AppEnv } from "../../context.ts";
import { logError } from "../../platform/log.ts";
import { counted } from "../../text/format.ts";

const asked = new WeakMap<Context<AppEnv>, Promise<ReceiverView | null>>();

/** Asks once for a page. A page that asks early has the answer together with its own data. */
export function alertReceiver(c: Context<AppEnv>): Promise<ReceiverView | null> {
  const known = asked.get(c);
  if (known !== undefined) return known;
  const receiver = receiverOf(c.env).catch((thrown) => {
    logError("alert_receiver_not_read", thrown);
    return null;
  });
  asked.set(c, receiver);
  return receiver;
}

/** The number of alerts that fail, or a mark if the receiver failed at a test alert only. */
export async function FailingAlerts({ c }: { readonly c: Context<AppEnv> }) {
  const receiver = await alertReceiver(c);
  if (receiver === null || receiver.state === "ok") return null;
  const { failing, host } = receiver;
  const says =
    failing === 0 ? `${host} does not accept alerts` : `${counted(failing, "alert")} not delivered so far`;
  return (
    <>
      {" "}
      <span class="badge warn" title={says}>
        {failing === 0 ? "!" : failing}
        <span class="sr-only"> {says}</span>
      </span>
    </>
  );
}
