/** A part of `npm run test:faults`: how long it may take, and what it has found. */

export type Plan = {
  readonly seed: number;
  /** Where a failed run of the model was found, to begin there. */
  readonly path?: string;
  readonly untilMs: number;
  readonly progress?: (text: string) => void;
};

export type Found = {
  readonly title: string;
  readonly rows: readonly (readonly [string, string | number])[];
  /** Each with the fewest steps that show it. */
  readonly failures: readonly string[];
};
