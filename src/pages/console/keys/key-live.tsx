/** What a key's limiter says now: both windows, strikes, and the live ban. */
import { counted } from "../../shared/format.ts";
import type { LiveUsage } from "../api-types.ts";
import { Gauge } from "../components/gauge.tsx";
import { Countdown } from "../components/time.tsx";

export function KeyLive({ live }: { readonly live: LiveUsage }) {
  if (live === null)
    return (
      <div class="notice warn" role="status">
        <p>
          <strong>The key's limiter cannot be reached.</strong> Its usage and its strikes are not known.
        </p>
      </div>
    );
  const { minute, day, strikes, ban } = live;
  return (
    <section aria-label="Live usage">
      {ban && (
        <div class="notice bad">
          <p>
            <strong>
              Banned for another <Countdown until={ban.endsAt} />
            </strong>{" "}
            {ban.cause === "operator" ? "by an operator" : "for strikes"}.
            {ban.reason !== null && ` Reason: ${ban.reason}`}
          </p>
        </div>
      )}
      <div class="gauges">
        <Gauge name="This minute" {...minute} />
        <Gauge name="This day (UTC)" {...day} />
      </div>
      <p class="muted">
        {strikes === 0 ? "No strikes." : `${counted(strikes, "strike")} in the exhausted window.`}
      </p>
    </section>
  );
}
