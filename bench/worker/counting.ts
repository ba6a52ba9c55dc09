/** Bindings that count what is billed. They know the platform's interfaces, and not the measured code. */
import { costs } from "./costs.ts";

/**
 * Counts at the transport below the D1 binding, so that prepared statements, batches and sessions all count.
 * Both fields belong to workerd's own binding (src/cloudflare/internal/d1-api.ts), and may change with it.
 */
export function countD1(database: D1Database): void {
  const binding = database as unknown as D1Internals; // not part of the public type
  const transport = binding.fetcher;
  if (typeof transport?.fetch !== "function" || binding.alwaysPrimarySession === undefined) {
    throw new Error("the D1 binding of this workerd has no transport that can be counted");
  }
  const counting = {
    async fetch(...args: Parameters<Fetcher["fetch"]>): Promise<Response> {
      const response = await transport.fetch(...args);
      const answer: unknown = await response.clone().json();
      for (const { meta } of [answer].flat() as D1Answer[]) {
        costs.d1Queries++;
        costs.d1RowsRead += meta?.rows_read ?? 0;
        costs.d1RowsWritten += meta?.rows_written ?? 0;
      }
      return response;
    },
  };
  binding.fetcher = counting;
  binding.alwaysPrimarySession.fetcher = counting;
}

type Transport = Pick<Fetcher, "fetch">;
type D1Internals = { fetcher?: Transport; alwaysPrimarySession?: { fetcher: Transport } };
/** One query's part of an answer, as workerd's binding reads it. A query that failed has no meta. */
type D1Answer = { readonly meta?: { readonly rows_read?: number; readonly rows_written?: number } };

/** The namespace, with stubs whose calls count. */
export function countCalls<T extends DurableObjectNamespace>(namespace: T): T {
  return observed(namespace, (name, member) => (...args) => {
    const result: unknown = Reflect.apply(member, namespace, args);
    return name === "get" || name === "getByName" ? countingStub(result as object) : result; // both give a stub
  });
}

function countingStub(stub: object): object {
  return observed(stub, (_name, member) => (...args) => {
    costs.objectCalls++;
    return Reflect.apply(member, stub, args);
  });
}

type Method = (...args: unknown[]) => unknown;

function observed<T extends object>(target: T, replace: (name: PropertyKey, member: Method) => Method): T {
  return new Proxy(target, {
    get(_target, name) {
      const member: unknown = Reflect.get(target, name);
      return typeof member === "function" ? replace(name, member as Method) : member; // its arguments pass unread
    },
  });
}

let isStorageCounted = false;

/** Patches the prototypes, so that every object of the isolate counts. A new alarm is billed as a row. */
export function countStorage(storage: DurableObjectStorage): void {
  if (isStorageCounted) return;
  isStorageCounted = true;
  const sqlPrototype: SqlStorage = Object.getPrototypeOf(storage.sql);
  const exec = sqlPrototype.exec;
  sqlPrototype.exec = function (...args) {
    const cursor = exec.apply(this, args);
    costs.objectRowsWritten += cursor.rowsWritten;
    // The caller reads the rows of its cursor before it lets other code run.
    queueMicrotask(() => {
      costs.objectRowsRead += cursor.rowsRead;
    });
    return cursor as ReturnType<typeof exec<never>>; // the caller's row type, which `apply` cannot carry
  };
  const kvPrototype: SyncKvStorage = Object.getPrototypeOf(storage.kv);
  const { get, put } = kvPrototype;
  kvPrototype.get = function <T>(key: string) {
    costs.objectRowsRead++;
    return get.call(this, key) as T | undefined; // the caller's type
  };
  kvPrototype.put = function (key, value) {
    costs.objectRowsWritten++;
    put.call(this, key, value);
  };
  const storagePrototype: DurableObjectStorage = Object.getPrototypeOf(storage);
  const setAlarm = storagePrototype.setAlarm;
  storagePrototype.setAlarm = function (...args) {
    costs.objectRowsWritten++;
    return setAlarm.apply(this, args);
  };
}

const withCountedAlarm = new WeakSet<object>();

/** An alarm that runs is billed as a call. */
export function countAlarms(objectClass: { readonly prototype: DurableObject }): void {
  const { alarm } = objectClass.prototype;
  if (alarm === undefined || withCountedAlarm.has(objectClass)) return;
  withCountedAlarm.add(objectClass);
  objectClass.prototype.alarm = function (...args) {
    costs.objectCalls++;
    return alarm.apply(this, args);
  };
}
