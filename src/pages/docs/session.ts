/** What all panels share: the key, and until when it has to wait. Both are only in the memory of this page. */
import { useEffect, useState } from "preact/hooks";
import { checkKey } from "./key-check.ts";

export type Session = {
  /** What was typed, which can have more than the key. */
  readonly apiKey: string;
  /** Ends the wait, also with the same key: a ban can be lifted, and a limit raised, before a wait of hours is over. */
  readonly setApiKey: (text: string) => void;
  /** Whole seconds until the key may send again after an answer with `Retry-After`; 0 if it may now. */
  readonly waitSeconds: number;
  readonly startWait: (key: string, seconds: number) => void;
};

const TICK_MS = 250;

/** Its end by the time that does not jump when the device's clock is set, and by the clock, which goes on while the device sleeps. */
type Wait = { readonly untilMs: number; readonly untilDateMs: number };

type Entered = { readonly text: string; readonly wait?: Wait };

/** What is over by one of them is over: a clock that was set forward costs one refused request. */
const leftMs = ({ untilMs, untilDateMs }: Wait) =>
  Math.min(untilMs - performance.now(), untilDateMs - Date.now());

export function useSession(): Session {
  const [{ text, wait }, setEntered] = useState<Entered>({ text: "" });
  const [, redraw] = useState({});
  useEffect(() => {
    if (!wait) return undefined;
    const tick = () => {
      redraw({});
      // A longer wait can have begun meanwhile.
      if (leftMs(wait) <= 0) setEntered((latest) => (latest.wait === wait ? { text: latest.text } : latest));
    };
    const timer = setInterval(tick, TICK_MS);
    return () => clearInterval(timer);
  }, [wait]);
  return {
    apiKey: text,
    setApiKey: (typed) => setEntered({ text: typed }),
    waitSeconds: wait ? Math.max(1, Math.ceil(leftMs(wait) / 1000)) : 0,
    startWait(key, seconds) {
      const waitMs = seconds * 1000;
      const begun = { untilMs: performance.now() + waitMs, untilDateMs: Date.now() + waitMs };
      setEntered((latest) => {
        const checked = checkKey(latest.text);
        // Another key was entered meanwhile.
        if (!("key" in checked) || checked.key !== key) return latest;
        // A later answer of another panel can ask for less.
        const isShorter = latest.wait !== undefined && leftMs(latest.wait) > waitMs;
        return isShorter ? latest : { text: latest.text, wait: begun };
      });
    },
  };
}
