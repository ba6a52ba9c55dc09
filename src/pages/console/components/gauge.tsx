/** How much of a window of the rate limit is used. */
import { formatNumber, formatPercent } from "../../shared/format.ts";
import { Countdown } from "./time.tsx";

type Props = {
  readonly name: string;
  readonly used: number;
  readonly limit: number;
  readonly resetsAt: string;
};

export function Gauge({ name, used, limit, resetsAt }: Props) {
  return (
    <div class="gauge">
      <h2>{name}</h2>
      <p>
        <strong>{formatNumber(used)}</strong> of {formatNumber(limit)} used ({formatPercent(used, limit)})
      </p>
      <meter
        min={0}
        max={limit}
        low={limit * 0.8}
        high={limit * 0.95}
        optimum={0}
        value={used}
        aria-label={`Used requests, ${name.toLowerCase()}`}
      />
      <p class="muted">
        Resets in <Countdown until={resetsAt} />
      </p>
    </div>
  );
}
