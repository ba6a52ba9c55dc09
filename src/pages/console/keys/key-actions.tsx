/** The buttons that change a key. Each opens a dialog that says what it will do. */
import type { FunctionComponent } from "preact";
import { useState } from "preact/hooks";
import type { KeyView } from "../api-types.ts";
import { BanDialog } from "../bans/ban-dialog.tsx";
import { LiftDialog } from "../bans/lift-dialog.tsx";
import { EditDialog } from "./dialogs/edit-dialog.tsx";
import { RevokeDialog } from "./dialogs/revoke-dialog.tsx";
import { RotateDialog } from "./dialogs/rotate-dialog.tsx";
import { SwitchDialog } from "./dialogs/switch-dialog.tsx";

/** What each dialog about a key is given. */
export type KeyDialogProps = {
  /** As it was when the dialog opened. */
  readonly shown: Pick<KeyView, "id" | "name"> & KeyView;
  readonly onChanged: () => Promise<void>;
  readonly onSecret: (secret: string) => void;
  readonly onClose: () => void;
};

type Props = Omit<KeyDialogProps, "onClose" | "shown"> & {
  readonly shown: KeyView & { readonly live: { readonly ban: unknown } | null };
};

type Action = {
  readonly name: string;
  readonly Dialog: FunctionComponent<KeyDialogProps>;
  readonly tone?: "danger";
};

/** With the key as it was then: the page goes on refreshing it, but a dialog must not change under the cursor. */
type Opened = { readonly action: Action; readonly shown: Props["shown"] };

export function KeyActions(props: Props) {
  const [open, setOpen] = useState<Opened>();
  const { shown } = props;
  return (
    <div class="actions">
      {actionsFor(shown).map((action) => (
        <button
          key={action.name}
          type="button"
          class={`button ${action.tone ?? ""}`}
          onClick={() => setOpen({ action, shown })}
        >
          {action.name}
        </button>
      ))}
      {open && <open.action.Dialog {...props} shown={open.shown} onClose={() => setOpen(undefined)} />}
    </div>
  );
}

const LIFT: Action = {
  name: "Lift ban…",
  Dialog: ({ shown, ...props }) => <LiftDialog keyId={shown.id} keyName={shown.name} {...props} />,
};
const BAN: Action = {
  name: "Ban…",
  tone: "danger",
  Dialog: ({ shown, ...props }) => <BanDialog bannedKey={shown} {...props} />,
};

/** A revoked key cannot be changed any more, except for its bans. */
function actionsFor({ status, live }: Props["shown"]): Action[] {
  // If the limiter cannot be reached, it is not known whether a ban is live.
  const bans = live !== null && live.ban === null ? [BAN] : [LIFT, BAN];
  if (status === "revoked") return bans;
  const isDisabled = status === "disabled";
  return [
    { name: "Edit…", Dialog: EditDialog },
    ...(status === "expired" ? [] : [{ name: "Rotate…", Dialog: RotateDialog }]),
    { name: isDisabled ? "Enable…" : "Disable…", Dialog: SwitchDialog },
    ...bans,
    { name: "Revoke…", Dialog: RevokeDialog, tone: "danger" },
  ];
}
