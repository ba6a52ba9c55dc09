/** The messages at the bottom of the window: what was done, and what the operator still has to know. */
import { useCallback, useId, useRef, useState } from "preact/hooks";

const SHOWN_MS = 8_000;
const AFTER_DIALOG_MS = 100;

/** Each has an object of its own, also if another one says the same. */
type Message = { readonly key: number; readonly text: string; readonly stays: boolean };

export function useToast() {
  const [messages, setMessages] = useState<readonly Message[]>([]);
  const keys = useRef(0);
  const region = useRef<HTMLDivElement>(null);
  const remove = (message: Message) => setMessages((shown) => shown.filter((each) => each !== message));
  const show = useCallback((text: string, stays: boolean) => {
    const message = { key: keys.current++, text, stays };
    onceNoDialog(() => {
      setMessages((shown) => [message, ...shown]);
      if (!stays) setTimeout(() => remove(message), SHOWN_MS);
    });
  }, []);
  const announce = useCallback((text: string) => show(text, false), [show]);
  const warn = useCallback((text: string) => show(text, true), [show]);
  const dismiss = (message: Message) => {
    remove(message);
    // Its button is gone: the keyboard goes on from here.
    region.current?.focus();
  };
  // The element is always there: a screen reader notices changes of it only. It reads what is added, not all of it again.
  const toast = (
    <div ref={region} class="toast" role="status" aria-atomic="false" tabIndex={-1}>
      {messages.map((message) => (
        <ToastMessage key={message.key} message={message} onDismiss={() => dismiss(message)} />
      ))}
    </div>
  );
  return { toast, announce, warn };
}

/**
 * While a modal dialog is open, the rest of the page is inert, and a screen reader says nothing of it. It says what is added some time
 * after that: what appears together with the page is no change.
 */
function onceNoDialog(act: () => void): void {
  const isOpen = () => document.querySelector("dialog:modal") !== null;
  if (!isOpen()) {
    act();
    return;
  }
  const observer = new MutationObserver(() => {
    if (isOpen()) return;
    observer.disconnect();
    setTimeout(() => onceNoDialog(act), AFTER_DIALOG_MS);
  });
  // It is closed, or removed with its page.
  observer.observe(document.body, { subtree: true, childList: true, attributeFilter: ["open"] });
}

function ToastMessage({
  message: { text, stays },
  onDismiss,
}: {
  readonly message: Message;
  readonly onDismiss: () => void;
}) {
  const id = useId();
  return (
    <div>
      <p id={id}>{text}</p>
      {stays && (
        <button type="button" class="button small" aria-describedby={id} onClick={onDismiss}>
          Dismiss
        </button>
      )}
    </div>
  );
}
