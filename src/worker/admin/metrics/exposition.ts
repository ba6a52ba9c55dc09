/**
 * Writes metrics as text that monitors read: OpenMetrics 1.0, or the older text format 0.0.4, whose readers know no
 * counter without `_total` in its name. Pure.
 * https://prometheus.io/docs/specs/om/open_metrics_spec/
 * https://prometheus.io/docs/instrumenting/exposition_formats/
 */
import { parseAccept } from "hono/utils/accept";

const OPEN_METRICS = "application/openmetrics-text; version=1.0.0; charset=utf-8";
const TEXT = "text/plain; version=0.0.4; charset=utf-8";

export const METRICS_MEDIA = [OPEN_METRICS, TEXT] as const;
export type Media = (typeof METRICS_MEDIA)[number];

/** OpenMetrics, unless the `Accept` of a request gives the older format a higher `q`. */
export function metricsMedia(accept: string): Media {
  const ranges = parseAccept(accept);
  const qualityOf = (media: Media): number => {
    const [type = "", version] = media.split("; ");
    const [main] = type.split("/");
    // Of ranges that fit, the most specific one counts (RFC 9110, 12.5.1).
    const fitting = [type, `${main}/*`, "*/*"].map((range) =>
      ranges.filter(
        ({ type, params }) =>
          type.toLowerCase() === range &&
          (params.version === undefined || `version=${params.version}` === version),
      ),
    );
    return Math.max(0, ...(fitting.find((each) => each.length > 0) ?? []).map(({ q }) => q));
  };
  return qualityOf(TEXT) > qualityOf(OPEN_METRICS) ? TEXT : OPEN_METRICS;
}

type Sample = { readonly labels?: Readonly<Record<string, string>>; readonly value: number };

/** Times are Unix seconds. */
export type Family = {
  readonly name: string;
  readonly unit?: "seconds" | "ratio";
  /** Without quotes and backslashes, which the two formats escape differently. */
  readonly help: string;
  /** Until when the family counts what happened. */
  readonly asOf: number;
  /** Since when a counter counts. Undefined: a gauge. */
  readonly since?: number;
  readonly samples: readonly Sample[];
};

/** Adds a family that has the `asOf` of each. Samples have no timestamps: Prometheus drops a second value of one time. */
export function metricsText(families: readonly Family[], now: number, media: Media): string {
  const asOf: Family = {
    name: "store_orders_as_of_timestamp_seconds",
    unit: "seconds",
    help: "Until when the metric counts what happened, in Unix time.",
    asOf: now,
    samples: families.map(({ name, asOf: value }) => ({ labels: { metric: name }, value })),
  };
  const isOpen = media === OPEN_METRICS;
  const lines = [...families, asOf].flatMap((family) => linesOf(family, isOpen));
  return [...lines, ...(isOpen ? ["# EOF"] : []), ""].join("\n");
}

function linesOf({ name, unit, help, since, samples }: Family, isOpen: boolean): string[] {
  const isCounter = since !== undefined;
  const sampled = isCounter ? `${name}_total` : name;
  const family = isOpen ? name : sampled;
  return [
    `# TYPE ${family} ${isCounter ? "counter" : "gauge"}`,
    ...(unit && isOpen ? [`# UNIT ${family} ${unit}`] : []),
    `# HELP ${family} ${help}`,
    ...samples.flatMap(({ labels = {}, value }) => {
      const pairs = Object.entries(labels).map(([label, text]) => `${label}="${escaped(text)}"`);
      const set = pairs.length === 0 ? "" : `{${pairs.join(",")}}`;
      const created = isCounter && isOpen ? [`${name}_created${set} ${since}`] : [];
      return [`${sampled}${set} ${value}`, ...created];
    }),
  ];
}

function escaped(text: string): string {
  return text.replaceAll(/["\\]/g, "\\$&").replaceAll("\n", "\\n");
}
