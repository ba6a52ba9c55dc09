/** The service far from its D1 and its objects: each call waits first. Calls and stored rows are counted. */
import { takeCosts } from "./costs.ts";

export type FarCosts = {
  readonly queries: number;
  /** Admissions, and how many requests they were for. */
  readonly calls: number;
  readonly requests: number;
  readonly rowsWritten: number;
};

const none = { queries: 0, calls: 0, requests: 0 };
const far = { d1Ms: 0, objectMs: 0, ...none };

const waitFor = (ms: number) => (ms > 0 ? new Promise<void>((done) => setTimeout(done, ms)) : undefined);

const originals = new WeakMap<object, D1PreparedStatement>();

async function late<T>(run: () => Promise<T>): Promise<T> {
  far.queries++;
  await waitFor(far.d1Ms);
  return run();
}

function lateStatement(statement: D1PreparedStatement): D1PreparedStatement {
  const proxy = new Proxy(statement, {
    get(target, name) {
      if (name === "bind") return (...values: unknown[]) => lateStatement(target.bind(...values));
      const run = Reflect.get(target, name, target) as (...args: unknown[]) => Promise<unknown>; // all others run it
      return (...args: unknown[]) => late(() => run.apply(target, args));
    },
  });
  originals.set(proxy, statement);
  return proxy;
}

export function lateDatabase(db: D1Database): D1Database {
  return new Proxy(db, {
    get(target, name: keyof D1Database) {
      if (name === "prepare") return (sql: string) => lateStatement(target.prepare(sql));
      if (name === "batch")
        return (all: D1PreparedStatement[]) =>
          late(() => target.batch(all.map((each) => originals.get(each) ?? each)));
      return Reflect.get(target, name, target);
    },
  });
}

type Namespace = { getByName(...args: unknown[]): object };
type Method = (argument: unknown) => Promise<unknown>;

/** Only `admit` and `admitAll` wait. */
export function lateObjects<N extends Namespace>(namespace: N): N {
  const getByName = (...args: unknown[]) =>
    new Proxy(namespace.getByName(...args), {
      get(stub, name) {
        const method: Method = Reflect.get(stub, name, stub);
        if (name !== "admit" && name !== "admitAll") return method;
        return async (argument: unknown) => {
          far.calls++;
          far.requests += Array.isArray(argument) ? argument.length : 1;
          await waitFor(far.objectMs);
          return Reflect.apply(method, stub, [argument]); // `method.call` would be another method of the object
        };
      },
    });
  return { getByName } as unknown as N; // the service calls this member only
}

/** `/far/set?d1=80&object=40`, `/far/costs`: since the last time. Undefined for every other path. */
export function answerAboutFar({ pathname, searchParams }: URL): Response | undefined {
  if (pathname === "/far/costs") {
    const { queries, calls, requests } = far;
    Object.assign(far, none);
    return Response.json({ queries, calls, requests, rowsWritten: takeCosts().objectRowsWritten });
  }
  if (pathname !== "/far/set") return undefined;
  far.d1Ms = Number(searchParams.get("d1"));
  far.objectMs = Number(searchParams.get("object"));
  return new Response(null, { status: 204 });
}
