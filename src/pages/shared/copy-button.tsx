/** A button that copies a text, and says so. */
import { useState } from "preact/hooks";

const SHOWN_MS = 2_000;

export function CopyButton({ text, label }: { readonly text: string; readonly label: string }) {
  const [state, setState] = useState<"idle" | "copied" | "failed">("idle");
  const copy = async () => {
    try {
      // Without HTTPS, except on localhost, a browser has no clipboard.
      await navigator.clipboard.writeText(text);
      setState("copied");
    } catch {
      setState("failed");
    }
    setTimeout(() => setState("idle"), SHOWN_MS);
  };
  return (
    // A browser that translates the page would keep the text of before.
    <span translate={false}>
      <button type="button" class="button small" onClick={() => void copy()} aria-label={label}>
        {state === "idle" ? "Copy" : state === "copied" ? "Copied" : "Select and copy it yourself"}
      </button>
      <span class="sr-only" role="status">
        {state === "copied" ? "Copied" : ""}
      </span>
    </span>
  );
}
