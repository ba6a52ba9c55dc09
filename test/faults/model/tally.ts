/** What a model run did, for the table at its end. */

export type Tally = {
  readonly steps: Map<string, number>;
  readonly faults: Map<string, number>;
  readonly statuses: Map<string, number>;
  requests: number;
  /** Those that a call of another request has brought to the limiter. */
  sharing: number;
};

export const newTally = (): Tally => ({
  steps: new Map(),
  faults: new Map(),
  statuses: new Map(),
  requests: 0,
  sharing: 0,
});

export function countIn(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}
