/** A hook for a field of a filter. */
import { useLayoutEffect, useState } from "preact/hooks";

/** What is typed: it begins as `asked`, what the address asks for, and does again when that changes. */
export function useTyped(asked: string) {
  const [value, onInput] = useState(asked);
  // An effect after painting would overwrite what is typed meanwhile.
  useLayoutEffect(() => onInput(asked), [asked]);
  return { value, onInput };
}
