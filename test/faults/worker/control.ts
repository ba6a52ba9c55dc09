/** What a test says to the Worker under test with each request, and what the Worker says back. */

/** An outage of D1: the query fails, or is executed and its answer is lost, or comes late. */
export const D1_FAULTS = ["fail", "lost", "slow", "late"] as const;
/** A call of the limiter is not sent, or its answer is lost; with an error that may be retried, or never. */
export const CALL_FAULTS = ["fail", "fail-reset", "lost", "lost-reset", "hang", "hang-lost"] as const;
/**
 * The object throws before or after counting, its storage fails, or it is reset before or after. Where it asks the
 * limiter of the customer: that call is not sent, its answer is lost, or that limiter is reset after it has counted.
 */
export const OBJECT_FAULTS = [
  "throw-before",
  "throw-after",
  "storage",
  "reset-before",
  "reset-after",
  "shared-fail",
  "shared-lost",
  "shared-reset",
] as const;

export type D1Fault = (typeof D1_FAULTS)[number];
export type CallFault = (typeof CALL_FAULTS)[number];
export type ObjectFault = (typeof OBJECT_FAULTS)[number];

/** Strikes after `skip` calls of its kind. */
type Planned<Kind> = { readonly kind: Kind; readonly skip: number };

export type Faults = {
  /** Strikes `times` calls in a row. `error` selects one of the messages of D1. */
  readonly d1?: Planned<D1Fault> & { readonly times: number; readonly error: number };
  readonly call?: Planned<CallFault>;
  readonly object?: ObjectFault;
};

/** How D1 answers to the reports of all limiters, until it is set again. */
export type ReportFault = "none" | "fail" | "lost";
/** How D1 answers when a limiter loads its policy, until it is set again. */
export type PolicyFault = "none" | "fail" | "lost" | "slow";

export type Instruction = Faults & {
  /** By the limiters' clock. */
  readonly nowMs: number;
  /** How far the isolate's clock is ahead of it. */
  readonly skewMs?: number;
  readonly reports?: ReportFault;
  readonly policies?: PolicyFault;
  /** The object is of the version before `admitAll`. */
  readonly isEarlier?: boolean;
  /** Vars of the Worker, for this request. */
  readonly vars?: Readonly<Record<string, string>>;
};

/** What happened during a request, in order. */
export type TraceEvent =
  | { readonly on: "d1"; readonly fault: D1Fault; readonly isWrite: boolean }
  /** `fault`: undefined if the call was answered. */
  | {
      readonly on: "admit" | "other-call";
      /** How many requests share the call. */
      readonly requests: number;
      /** The verdicts of an answer that was lost. */
      readonly lost?: readonly LostVerdict[];
      readonly fault?: CallFault | "thrown";
      /** What the object was made to fail by, if that is why it has thrown. */
      readonly by?: ObjectFault | undefined;
      /** When the object began to load the policy that it has loaded last. */
      readonly loadedAtMs?: number | undefined;
      /** Whether the limiter of the customer was reset after it has counted. */
      readonly isSharedReset?: boolean | undefined;
    };

/** `by` is the window that has refused the request. */
export type LostVerdict = {
  readonly kind: string;
  readonly by: string | undefined;
  readonly dayRemaining: number;
};

export const INSTRUCTION_HEADER = "X-Test-Instruction";
export const TRACE_HEADER = "X-Test-Trace";

/** As in src/limiter/store.ts: after this long without a change the exact state is stored. */
export const IDLE_FLUSH_MS = 1_000;

/** How many times faster timers run: the idle flush, and timeouts, which a busy machine must not reach. */
export const IDLE_FLUSH_SPEED = 20;
export const TIMEOUT_SPEED = 2;

/** What D1 says of an outage (Cloudflare's documentation of D1's errors); the last is workerd's own. */
export const D1_MESSAGES = [
  "D1_ERROR: Network connection lost.",
  "Network connection lost.",
  "D1_ERROR: D1 DB is overloaded. Requests queued for too long.",
  "D1_ERROR: Internal error in D1 DB storage caused object to be reset.",
  "internal error; reference = 0123456789abcdef0123456789abcdef",
] as const;
