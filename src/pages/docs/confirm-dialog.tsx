/** Asks before a request that changes data. */
import { useEffect, useId, useRef } from "preact/hooks";
import type { DocsRequest } from "./request.ts";

type Props = {
  /** What the operation does: `Cancel an order`. */
  readonly summary: string;
  readonly request: DocsRequest;
  /** Called when the dialog has closed. */
  readonly onClose: (isConfirmed: boolean) => void;
};

export function ConfirmDialog({ summary, request: { method, url }, onClose }: Props) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog
      ref={dialog}
      aria-labelledby={id}
      onClose={() => onClose(dialog.current?.returnValue === "confirmed")}
    >
      <h2 id={id}>{summary}?</h2>
      <pre>
        {method} {url}
      </pre>
      <p>This changes the data of the service, and cannot be undone.</p>
      <div class="dialog-actions">
        <button type="button" class="button" onClick={() => dialog.current?.close()}>
          Do not send
        </button>
        <button
          type="button"
          class="button danger primary"
          onClick={() => dialog.current?.close("confirmed")}
        >
          Send {method}
        </button>
      </div>
    </dialog>
  );
}
