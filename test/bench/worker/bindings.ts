/** The bindings of the bench Worker: those of the service, and those of the rivals. */
import type { Bindings } from "../../../src/worker/context.ts";
import type { MemoryCounter } from "../rivals/memory-object.ts";

export type BenchBindings = Bindings & {
  /** Set: the Worker counts what requests cost. */
  readonly COUNT?: string;
  readonly MEMORY_COUNTER: DurableObjectNamespace<MemoryCounter>;
};
