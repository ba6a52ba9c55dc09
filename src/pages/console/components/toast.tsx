/** The line at the bottom of the window that says what was done. */
import { useCallback, useState } from "preact/hooks";

const SHOWN_MS = 8_000;

export function useToast() {
  const [text, setText] = useState("");
  const announce = useCallback((shown: string) => {
    setText(shown);
    setTimeout(() => setText((current) => (current === shown ? "" : current)), SHOWN_MS);
  }, []);
  // The element is always there: a screen reader notices changes of its text only.
  const toast = (
    <div class="toast" role="status">
      {text && <p>{text}</p>}
    </div>
  );
  return { toast, announce };
}
