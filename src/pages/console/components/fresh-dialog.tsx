/** A dialog about something that other operators change, too: it shows how that is when it opens, and keeps showing that. */
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { lookBeforeChange, requireSame } from "../changes.ts";
import { useLoad } from "../use-load.ts";
import { ActionDialog } from "./action-dialog.tsx";
import { ProblemNotice } from "./notices.tsx";

type Props<T> = {
  /** The id of what the dialog is about. */
  readonly of: string;
  readonly load: () => Promise<T>;
  readonly onClose: () => void;
  /** `requireUnchanged` throws if it is not as it was when the dialog opened, or if the dialog was left. */
  readonly children: (opened: T, requireUnchanged: (left: AbortSignal) => Promise<void>) => ComponentChildren;
};

/**
 * Until it is loaded there is no dialog: the button that opens it keeps the focus, and gets it back in the end. If the focus moves on before,
 * the dialog does not open: what is typed elsewhere would go into its fields, and Enter would submit it.
 */
export function FreshDialog<T extends object>({ of, load, onClose, children }: Props<T>) {
  const { data, problem, reload } = useLoad(load, of);
  const isLoading = data === undefined && problem === undefined;
  // The dialog itself takes the focus in its layout effect, which is before this one ends.
  const isWaiting = useRef(isLoading);
  isWaiting.current = isLoading;
  useLayoutEffect(() => {
    if (!isLoading) return;
    const opener = document.activeElement;
    // When the window gets the focus back, its element does, too.
    const closeIfLeft = ({ target }: Event) => isWaiting.current && target !== opener && onClose();
    document.addEventListener("focusin", closeIfLeft);
    return () => document.removeEventListener("focusin", closeIfLeft);
  }, [isLoading, onClose]);
  if (data !== undefined) {
    return <>{children(data, async (left) => requireSame(data, await lookBeforeChange(load, left)))}</>;
  }
  if (!problem) return null;
  return (
    <ActionDialog title="It could not be loaded" action="Try again" isStep run={reload} onClose={onClose}>
      <ProblemNotice problem={problem} />
    </ActionDialog>
  );
}
