/** What all panels share: the key, and until when it has to wait. Both are only in the memory of this page. */
import { useEffect, useState } from "preact/hooks";
import { checkKey } from "./key-check.ts";

export type Session = {
  /** What was typed, which can have more than the key. */
  readonly apiKey: string;
  readonly setApiKey: (text: string) => void;
  /** Whole seconds until the key may send again after an answer with `Retry-After`; 0 if it may now. */
  readonly waitSeconds: number;
  readonly startWait: (key: string, seconds: number) => void;
};

const TICK_MS = 250;

/** Its end by the time that does not jump when the device's clock is set, and by the clock, which goes on while the device sleeps. */
type Wait = { readonly key: string; readonly untilMs: number; readonly untilDateMs: number };

/** What is over by one of them is over: a clock that was set forward costs one refused request. */
const leftMs = ({ untilMs, untilDateMs }: Wait) =>
  Math.min(untilMs - performance.now(), untilDateMs - Date.now());

export function useSession(): Session {
  const [apiKey, setApiKey] = useState("");
  const [wait, setWait] = useState<Wait>();
  const [, redraw] = useState({});
  useEffect(() => {
    if (!wait) return undefined;
    const tick = () => {
      redraw({});
      // A longer wait can have begun meanwhile.
      if (leftMs(wait) <= 0) setWait((latest) => (latest === wait ? undefined : latest));
    };
    const timer = setInterval(tick, TICK_MS);
    return () => clearInterval(timer);
  }, [wait]);
  const checked = checkKey(apiKey);
  const isWaiting = wait !== undefined && "key" in checked && wait.key === checked.key;
  return {
    apiKey,
    setApiKey,
    waitSeconds: isWaiting ? Math.max(1, Math.ceil(leftMs(wait) / 1000)) : 0,
    startWait(key, seconds) {
      const waitMs = seconds * 1000;
      const begun = { key, untilMs: performance.now() + waitMs, untilDateMs: Date.now() + waitMs };
      // A later answer of another panel can ask for less.
      setWait((latest) => (latest?.key === key && leftMs(latest) > waitMs ? latest : begun));
    },
  };
}
