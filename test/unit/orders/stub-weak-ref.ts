/** Garbage collection under a test's control. */
import { vi } from "vitest";

/** Replaces `WeakRef` until globals are unstubbed. What the test adds to the set is collected. */
export function stubWeakRef(): Set<unknown> {
  const collected = new Set<unknown>();
  vi.stubGlobal(
    "WeakRef",
    class {
      readonly deref: () => unknown;
      constructor(target: unknown) {
        this.deref = () => (collected.has(target) ? undefined : target);
      }
    },
  );
  return collected;
}
