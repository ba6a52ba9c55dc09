/** Writes metrics as text of OpenMetrics 1.0. Pure. https://prometheus.io/docs/specs/om/open_metrics_spec/ */

export const OPEN_METRICS = "application/openmetrics-text; version=1.0.0; charset=utf-8";

type Sample = { readonly labels?: Readonly<Record<string, string>>; readonly value: number };

/** Times are Unix seconds. */
export type Family = {
  readonly name: string;
  readonly unit?: "seconds" | "ratio";
  readonly help: string;
  /** Until when the family counts what happened. */
  readonly asOf: number;
  /** Since when a counter counts. Undefined: a gauge. */
  readonly since?: number;
  readonly samples: readonly Sample[];
};

/** Adds a family that has the `asOf` of each. Samples have no timestamps: Prometheus drops a second value of one time. */
export function openMetrics(families: readonly Family[], now: number): string {
  const asOf: Family = {
    name: "store_orders_as_of_timestamp_seconds",
    unit: "seconds",
    help: "Until when the metric counts what happened, in Unix time.",
    asOf: now,
    samples: families.map(({ name, asOf: value }) => ({ labels: { metric: name }, value })),
  };
  return `${[...families, asOf].flatMap(linesOf).join("\n")}\n# EOF\n`;
}

function linesOf({ name, unit, help, since, samples }: Family): string[] {
  const isCounter = since !== undefined;
  return [
    `# TYPE ${name} ${isCounter ? "counter" : "gauge"}`,
    ...(unit ? [`# UNIT ${name} ${unit}`] : []),
    `# HELP ${name} ${escaped(help)}`,
    ...samples.flatMap(({ labels = {}, value }) => {
      const pairs = Object.entries(labels).map(([label, text]) => `${label}="${escaped(text)}"`);
      const set = pairs.length === 0 ? "" : `{${pairs.join(",")}}`;
      if (!isCounter) return [`${name}${set} ${value}`];
      return [`${name}_total${set} ${value}`, `${name}_created${set} ${since}`];
    }),
  ];
}

function escaped(text: string): string {
  return text.replaceAll(/["\\]/g, "\\$&").replaceAll("\n", "\\n");
}
