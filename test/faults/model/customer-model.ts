/**
 * What keys may see of their customer's limit, as docs/promises.md says. What a fault may have cost is an interval,
 * until a response shows the exact figure.
 */
import { Mismatch, type SharedWindows, type ShownWindow } from "./limiter-model.ts";

const MINUTE = 60_000;
const DAY = 86_400_000;

type Length = typeof MINUTE | typeof DAY;
type Window = { readonly length: Length; limit: number | null; startMs: number; lo: number; hi: number };

export class CustomerModel {
  readonly minute: Window = { length: MINUTE, limit: null, startMs: 0, lo: 0, hi: 0 };
  readonly day: Window = { length: DAY, limit: null, startMs: 0, lo: 0, hi: 0 };
  isUsed = false;
  #reservedAtMost = 0;

  get isLimited(): boolean {
    return this.#limited().length > 0;
  }

  /** The limiter was asked for so many requests, and may have counted them, although none was answered. */
  mayCount(nowMs: number, requests: number): void {
    for (const window of this.#begin(nowMs)) window.hi += requests;
    this.#reserve();
  }

  /** What it has counted ahead counts as used. Returns how much that can be. */
  crash(): number {
    const reserved = this.#reservedAtMost;
    for (const window of [this.minute, this.day]) window.hi += reserved;
    this.#reservedAtMost = 0;
    return reserved;
  }

  /** A second without a request: the exact counts are stored. */
  pause(): void {
    this.#reservedAtMost = 0;
  }

  /**
   * What a response shows, after the decision. Of requests that were decided beside each other, `slack` more may have
   * been counted meanwhile.
   */
  observe(nowMs: number, kind: string, shown: SharedWindows, slack: number): void {
    const windows = this.#begin(nowMs);
    const isFull = windows.map(({ lo, hi, limit }) => ({
      surely: lo >= (limit ?? 0),
      perhaps: hi >= (limit ?? 0),
    }));
    if (kind === "admitted" && isFull.some(({ surely }) => surely))
      throw new Mismatch(`a request was admitted beyond the limit of its customer: ${this.describe()}`);
    if (kind === "shared" && !isFull.some(({ perhaps }) => perhaps))
      throw new Mismatch(`a request was refused below the limit of its customer: ${this.describe()}`);
    for (const window of windows) {
      if (kind === "admitted") {
        window.lo += 1;
        window.hi += 1;
      }
      this.#narrow(window, shown[window === this.day ? "day" : "minute"], slack);
    }
    if (kind === "admitted") this.#reserve();
  }

  describe(): string {
    const show = ({ lo, hi, limit }: Window) => `${lo} to ${hi} of ${limit}`;
    return `${show(this.minute)} used in the minute, ${show(this.day)} on the day`;
  }

  #narrow(window: Window, shown: ShownWindow | undefined, slack: number): void {
    const { lo, hi, startMs, length } = window;
    const limit = window.limit ?? 0;
    if (shown === undefined) throw new Mismatch("a limit of the customer is not shown");
    const { remaining } = shown;
    if (shown.limit !== limit || shown.resetAtMs !== startMs + length)
      throw new Mismatch(
        `the customer's window is ${JSON.stringify(shown)}, not of ${limit} from ${startMs}`,
      );
    if (remaining < Math.max(0, limit - hi) || remaining > Math.max(0, limit - lo))
      throw new Mismatch(`${remaining} of the customer's remain: ${this.describe()}`);
    window.lo = Math.max(lo, limit - remaining);
    if (remaining > 0) window.hi = Math.min(hi, limit - remaining + slack);
  }

  #limited(): Window[] {
    return [this.minute, this.day].filter(({ limit }) => limit !== null);
  }

  /** From 300 in the shortest window on, at most a tenth of each limit. */
  #reserve(): void {
    const limits = this.#limited().map(({ limit }) => limit ?? 0);
    const [shortest = 0] = limits;
    if (shortest >= 300) this.#reservedAtMost = Math.floor(Math.min(...limits) / 10);
  }

  #begin(nowMs: number): Window[] {
    this.isUsed = true;
    for (const window of [this.minute, this.day]) {
      const startMs = Math.floor(nowMs / window.length) * window.length;
      if (startMs > window.startMs) Object.assign(window, { startMs, lo: 0, hi: 0 });
    }
    return this.#limited();
  }
}
