/**
 * Cloudflare's prices for the paid plan, beyond what is included, read on 2026-11-21 in the documentation:
 * https://developers.cloudflare.com, /workers, /durable-objects and /d1, each at platform/pricing.
 */
import type { Costs } from "./worker/costs.ts";

/** Dollars for a million, and for a GB and month of storage. */
export const PRICES = {
  date: "2026-11-21",
  workerRequests: 0.3,
  workerCpuMs: 0.02,
  logLines: 0.6,
  objectCalls: 0.15,
  objectGbSeconds: 12.5,
  rowsRead: 0.001,
  rowsWritten: 1,
  d1Storage: 0.75,
  objectStorage: 0.2,
} as const;

/** What an object is billed for while it is active, whatever it uses. */
export const OBJECT_GB = 0.128;

export type Usage = {
  readonly costs: Costs;
  /** How long an object was active for each request. */
  readonly objectActiveMs: number;
  /** Undefined where it was not measured: it is then left out of the sum. */
  readonly cpuMs: number | undefined;
  /** That Workers Logs keeps of each request. */
  readonly logLines: number;
};

/** With `LOG_REQUESTS = "1/100"`, of requests that have a line by chance only. */
export const SAMPLED_LINES = 1 / 100;

/** The price of a million requests of this kind. */
export function dollarsPerMillion({ costs, objectActiveMs, cpuMs, logLines }: Usage): number {
  return (
    PRICES.workerRequests +
    PRICES.workerCpuMs * (cpuMs ?? 0) +
    PRICES.logLines * logLines +
    PRICES.objectCalls * costs.objectCalls +
    PRICES.objectGbSeconds * OBJECT_GB * (objectActiveMs / 1000) +
    PRICES.rowsRead * (costs.objectRowsRead + costs.d1RowsRead) +
    PRICES.rowsWritten * (costs.objectRowsWritten + costs.d1RowsWritten)
  );
}
