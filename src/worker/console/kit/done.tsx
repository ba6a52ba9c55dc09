/** Says what the last form did. */
import type { PropsWithChildren } from "hono/jsx";
import type { AuditView } from "../../admin/audit/schema.ts";
import type { Call } from "../../admin/call.ts";
import { CALLS } from "../../admin/calls.ts";
import type { Effective } from "../../admin/refresh-limiters.ts";
import { membersOf, sentenceOf } from "../../text/says.ts";
import { Notice } from "./ui.tsx";

/** Returns the sentence about a change without its subject. */
export function saysOf({ call, before, after }: Pick<AuditView, "call" | "before" | "after">): string {
  const says = CALLS.find(({ id }) => id === call)?.says;
  return says?.(membersOf(before), membersOf(after)) ?? call;
}

type Props = PropsWithChildren<{
  readonly call: Pick<Call, "id" | "says">;
  readonly subject: string;
  /** The last change of the object. */
  readonly change: AuditView | undefined;
  readonly effective?: Effective;
}>;

/** Shows nothing if the audit log does not say so too, since anybody can make an address. */
export function Done({ call, subject, change, effective, children }: Props) {
  if (change?.call !== call.id || call.says === undefined) return null;
  const says = call.says(membersOf(change.before), membersOf(change.after));
  return (
    <Notice kind="good">
      <p>{sentenceOf(subject, says, effective)}</p>
      {children}
    </Notice>
  );
}
