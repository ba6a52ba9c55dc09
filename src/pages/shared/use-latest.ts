/** A hook for a search: the text whose answer is awaited on the page that is shown. */
import { useLayoutEffect, useRef } from "preact/hooks";

/**
 * Answers can arrive in another order than their questions, after the text was changed, and after another page was opened. One
 * may act only if its text is still the latest. When `place`, the address of the page, changes or is left, there is none.
 */
export function useLatest(place: string | undefined): { current: string } {
  const latest = useRef("");
  useLayoutEffect(
    () => () => {
      latest.current = "";
    },
    [place],
  );
  return latest;
}
