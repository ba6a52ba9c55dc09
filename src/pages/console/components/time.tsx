/** Times: local, with the UTC time as a tooltip, or relative to now. */
import { formatDuration, formatRelative, formatTime, formatUtc } from "../../shared/format.ts";
import { useNow } from "../use-load.ts";

export function Time({ iso }: { readonly iso: string | null }) {
  if (iso === null) return <>–</>;
  return (
    <time dateTime={iso} title={formatUtc(iso)}>
      {formatTime(iso)}
    </time>
  );
}

/** `in 3 h 12 min`, `4 min 05 s ago` */
export function RelativeTime({ iso }: { readonly iso: string }) {
  const nowMs = useNow();
  return (
    <time dateTime={iso} title={formatUtc(iso)}>
      {formatRelative(iso, nowMs)}
    </time>
  );
}

/** `3 h 12 min`, and `0 s` once it is over. */
export function Countdown({ until }: { readonly until: string }) {
  const seconds = (Date.parse(until) - useNow()) / 1000;
  return (
    <time dateTime={until} title={formatUtc(until)} class="countdown">
      {formatDuration(seconds)}
    </time>
  );
}
