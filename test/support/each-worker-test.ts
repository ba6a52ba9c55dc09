/** Each test of the Worker has the log to itself, and the next test the real clock and no mock. */
import { afterEach, beforeEach, vi } from "vitest";
import { captureLog } from "./worker.ts";

beforeEach(captureLog);
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});
