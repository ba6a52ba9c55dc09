/** Says that alerts do not arrive. */
import type { ReceiverView } from "../../../admin/alerts/schema.ts";
import { Notice } from "../../kit/ui.tsx";

export function ReceiverNotice({ receiver }: { readonly receiver: ReceiverView | null }) {
  if (receiver === null || receiver.state === "ok") return null;
  return (
    <Notice kind={receiver.state === "off" ? "bad" : "warn"}>
      <p>
        Alerts: {receiver.says} <a href="/console/alerts">The alerts</a>
      </p>
    </Notice>
  );
}
