/** The bindings of the bench Worker: those of the service, and those of the rivals. */
import type { Bindings } from "../../../src/worker/context.ts";
import type { MemoryCounter } from "../rivals/memory-object.ts";
import type { WriteThroughCounter } from "../rivals/write-through-object.ts";

export type BenchBindings = Bindings & {
  /** Set: the Worker counts what requests cost. */
  readonly COUNT?: string;
  readonly MEMORY_COUNTER: DurableObjectNamespace<MemoryCounter>;
  readonly WRITE_THROUGH_COUNTER: DurableObjectNamespace<WriteThroughCounter>;
  readonly REACHED_RATE_LIMIT: RateLimit;
  readonly UNREACHED_RATE_LIMIT: RateLimit;
};
