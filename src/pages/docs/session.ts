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

type Wait = { readonly key: string; readonly untilMs: number };

export function useSession(): Session {
  const [apiKey, setApiKey] = useState("");
  const [wait, setWait] = useState<Wait>();
  const [nowMs, setNowMs] = useState(0);
  useEffect(() => {
    if (!wait) return undefined;
    const tick = () => {
      // Time that does not jump when the device's clock is set.
      setNowMs(performance.now());
      // A longer wait can have begun meanwhile.
      if (performance.now() >= wait.untilMs) setWait((latest) => (latest === wait ? undefined : latest));
    };
    const timer = setInterval(tick, TICK_MS);
    return () => clearInterval(timer);
  }, [wait]);
  const checked = checkKey(apiKey);
  const isWaiting = wait !== undefined && "key" in checked && wait.key === checked.key;
  return {
    apiKey,
    setApiKey,
    waitSeconds: isWaiting ? Math.max(1, Math.ceil((wait.untilMs - nowMs) / 1000)) : 0,
    startWait(key, seconds) {
      const startMs = performance.now();
      setNowMs(startMs);
      const untilMs = startMs + seconds * 1000;
      // A later answer of another panel can ask for less.
      setWait((before) => (before?.key === key && before.untilMs > untilMs ? before : { key, untilMs }));
    },
  };
}
