/**
 * What the package exports in a Worker, and how it works.
 *
 * **Algorithm.** Each key has one object, which has the only count of the key. Windows are fixed and aligned to
 * UTC, so a window is one number and its end is known to everybody. `core` is pure: from the counts, the policy,
 * the request and the clock, `decide` makes the verdict and the counts after it, of all windows and units in one
 * step. The object reads the clock, decides and stores the counts without giving way to another request, and the
 * platform holds the answer back until the write is durable. `batches` puts requests of a key that arrive
 * together into one call, `reservation` stores the counts of a burst ahead, `turns` spreads callers that wait, and
 * `settleCount` replaces a reserved cost by the real one. If the policy names a `shared` limiter, that one is asked
 * for what the key would admit, and only what both admit is counted.
 *
 * **Life of an object.** The first request of a key creates it, near the caller or where `locationHint` says. It
 * loads its policy, if the class has a `loadPolicy`, and keeps it in its row with the counts: that one row is all
 * that it stores. A policy that is old is loaded again behind an answer, and `forget` drops it. In a burst the row
 * is ahead of memory by at most a block; a second after the last request a timer stores the exact counts, and the
 * platform may then evict the object. `usage` collects hours, bans and thresholds in the row until a report has
 * arrived: by a request, by a timer, or by the alarm. Ten minutes after all windows are over, nothing is left to
 * report and the last ban is forgotten, the alarm deletes the row.
 *
 * **Failures.** A crash or an eviction goes on from the row: requests of the block that were not sent count as
 * used, so a key can lose some and never gains one. A write that fails admits nothing. A call without an answer
 * may have counted: the caller gets a LimiterTimeoutError, and `onUnreachable` decides. A deploy that resets the
 * object is asked once more. A load that fails or takes five seconds fails its calls, unless a stored policy is
 * young enough. A report that fails is repeated, with absolute figures. A clock that was set back stays in the
 * newest window, so that none gets a second limit. A mistake of the host is a RangeError or TypeError, and never
 * lets a request pass.
 */
export * from "./client.ts";
export * from "./hono.ts";
export { RateLimiter } from "./object.ts";
