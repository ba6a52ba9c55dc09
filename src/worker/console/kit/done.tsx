/** Says what the last form did. */
import type { PropsWithChildren } from "hono/jsx";
import type { AuditView } from "../../admin/audit/schema.ts";
import type { Call } from "../../admin/call.ts";
import type { Effective } from "../../admin/refresh-limiters.ts";
import { saysOf } from "../../admin/says.ts";
import { sentenceOf } from "../../text/says.ts";
import { Notice } from "./ui.tsx";

type Props = PropsWithChildren<{
  readonly call: Pick<Call, "id">;
  readonly subject: string;
  /** The last change of the object. */
  readonly change: AuditView | undefined;
  readonly effective?: Effective;
}>;

/** Shows nothing if the audit log does not say so too, since anybody can make an address. */
export function Done({ call, subject, change, effective, children }: Props) {
  if (change?.call !== call.id) return null;
  return (
    <Notice kind="good">
      <p>{sentenceOf(subject, saysOf(change), effective)}</p>
      {children}
    </Notice>
  );
}
