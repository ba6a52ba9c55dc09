/** A modal dialog that says what an action will do, asks for what it needs, and does it. */
import type { ComponentChildren } from "preact";
import { useId, useLayoutEffect, useRef } from "preact/hooks";
import { type Change, useSubmit } from "../use-submit.ts";
import { ProblemNotice } from "./notices.tsx";

type Props = {
  readonly title: string;
  /** The text of the button that does it. */
  readonly action: string;
  readonly isDangerous?: boolean;
  /** The action changes nothing, and the dialog stays open after it. */
  readonly isStep?: boolean;
  readonly makesSecret?: boolean;
  /** Throws if what the dialog shows is not so any more. Both signals are aborted when the dialog is closed or its page is left. */
  readonly look?: Change["look"];
  readonly run: (left: AbortSignal) => Promise<void>;
  /** Shows how it is now, before the dialog closes, and after a failure. */
  readonly onChanged?: () => Promise<void>;
  /** Called when the dialog has closed, whether the action was done or not. */
  readonly onClose: () => void;
  readonly children: ComponentChildren;
};

export function ActionDialog({
  title,
  action,
  isDangerous = false,
  isStep = false,
  makesSecret = false,
  look,
  run,
  onChanged,
  onClose,
  children,
}: Props) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  const cancel = useRef<HTMLButtonElement>(null);
  const focused = useRef<HTMLElement>(null);
  // With useEffect, what is typed before the dialog is painted could go to another field.
  useLayoutEffect(() => {
    if (!dialog.current || !cancel.current) return;
    // Enter does what the dialog offers, also in a checkbox: without a field to type in, the focus begins on Cancel.
    cancel.current.autofocus = dialog.current.querySelector("input:not([type=checkbox])") === null;
    dialog.current.showModal();
  }, []);

  // The browser gives the focus back to the button that opened the dialog, then sends `close`.
  const close = () => dialog.current?.close();
  const change: Change = {
    name: title.replace(/\?$/, ""),
    makesSecret,
    look,
    onChanged,
    onDone: close,
  };
  const { submit, problem, isRunning, isChanging } = useSubmit(run, isStep ? undefined : change);
  // A disabled element loses the focus.
  useLayoutEffect(() => {
    if (!isRunning && document.activeElement === document.body) focused.current?.focus();
  }, [isRunning]);
  return (
    <dialog
      ref={dialog}
      aria-labelledby={id}
      // Escape. Chromium closes the dialog at a second one anyway.
      onCancel={(event) => isChanging && event.preventDefault()}
      onClose={({ currentTarget }) => {
        // The button that opened it can be gone: after Disable, it is Enable.
        const focus = document.activeElement;
        if (focus === document.body || currentTarget.contains(focus))
          document.querySelector("h1")?.focus({ preventScroll: true });
        onClose();
      }}
    >
      <form
        onSubmit={(event) => {
          if (document.activeElement instanceof HTMLElement) focused.current = document.activeElement;
          submit(event);
        }}
      >
        <h2 id={id}>{title}</h2>
        <fieldset disabled={isChanging}>{children}</fieldset>
        {problem && <ProblemNotice problem={problem} />}
        <div class="actions end">
          <button ref={cancel} type="button" class="button" disabled={isChanging} onClick={close}>
            Cancel
          </button>
          <button
            type="submit"
            class={isDangerous ? "button danger primary" : "button primary"}
            disabled={isRunning}
          >
            {action}
          </button>
        </div>
      </form>
    </dialog>
  );
}
