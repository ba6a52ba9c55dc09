/** The memory of one isolate, from workerd's inspector. Locally D1's isolates are in the same process. */

const MAX_WAIT_MS = 5_000;

/** The Worker's isolate, as workerd's inspector lists it. */
export const WORKER_ISOLATE = "core:user:main";

export type IsolateMemory = {
  /**
   * Megabytes now: JavaScript's heap with its garbage, and the bytes of ArrayBuffers. Undefined without an
   * answer in time: an isolate answers while it has a request.
   */
  readonly now: () => Promise<number | undefined>;
  /** The same, without garbage. */
  readonly afterCollection: () => Promise<number | undefined>;
  readonly close: () => void;
};

/** The part of `Runtime.getHeapUsage` that is read here (Chrome DevTools Protocol). */
type HeapUsage = { readonly usedSize: number; readonly backingStorageSize: number };

export async function openIsolateMemory(inspector: URL, id: string): Promise<IsolateMemory> {
  const listed = await fetch(`http://${inspector.host}/json`);
  // As the protocol describes it.
  const targets = (await listed.json()) as { id: string; webSocketDebuggerUrl: string }[];
  const target = targets.find((each) => each.id === id);
  if (!target) throw new Error(`the inspector lists no ${id}: ${targets.map((each) => each.id).join(", ")}`);
  const socket = new WebSocket(target.webSocketDebuggerUrl);
  const waiting = new Map<number, (result: HeapUsage) => void>();
  socket.addEventListener("message", ({ data }) => {
    const { id: call, result } = JSON.parse(String(data)) as { id: number; result: HeapUsage };
    waiting.get(call)?.(result);
    waiting.delete(call);
  });
  await new Promise((opened) => socket.addEventListener("open", opened));
  let calls = 0;
  const request = (method: string) =>
    new Promise<HeapUsage | undefined>((answered) => {
      const call = ++calls;
      waiting.set(call, answered);
      socket.send(JSON.stringify({ id: call, method }));
      setTimeout(() => answered(undefined), MAX_WAIT_MS).unref();
    });
  const now = async () => {
    const usage = await request("Runtime.getHeapUsage");
    return usage && (usage.usedSize + usage.backingStorageSize) / 2 ** 20;
  };
  return {
    now,
    async afterCollection() {
      const collected = await request("HeapProfiler.collectGarbage");
      return collected && (await now());
    },
    close: () => socket.close(),
  };
}
