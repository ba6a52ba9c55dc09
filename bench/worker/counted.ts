/** What build.ts puts around the app and the class of a file. With COUNT set, both count what they cost. */
import { DurableObject } from "cloudflare:workers";
import { takeCosts } from "./costs.ts";
import { countAlarms, countCalls, countD1, countStorage } from "./counting.ts";

type Env = { readonly COUNT?: string; readonly DB: D1Database };
type App = { fetch(request: Request, env: Env, ctx: ExecutionContext): Response | Promise<Response> };
type ObjectClass = new (ctx: DurableObjectState, env: Cloudflare.Env) => DurableObject;

export function countedApp(app: App): ExportedHandler<Env> {
  return {
    fetch(request, env, ctx) {
      if (request.url.endsWith("/bench/costs")) return Response.json(takeCosts());
      return app.fetch(request, env.COUNT ? countedEnv(env) : env, ctx);
    },
  };
}

/** A file without an object gets an empty one, as the binding needs a class. */
export function objectClassOf(file: object, name: string): ObjectClass {
  const found: unknown = Reflect.get(file, name);
  return typeof found === "function" ? (found as ObjectClass) : class extends DurableObject {};
}

/** Called in the constructor of each object, with its class. */
export function countObject(objectClass: ObjectClass, ctx: DurableObjectState, env: Env): Env {
  if (!env.COUNT) return env;
  countStorage(ctx.storage);
  countAlarms(objectClass);
  return countedEnv(env);
}

let counted: Env | undefined;

function countedEnv(env: Env): Env {
  if (counted) return counted;
  countD1(env.DB);
  const bindings = Object.entries(env).map(([name, value]) => [
    name,
    isNamespace(value) ? countCalls(value) : value,
  ]);
  counted = Object.fromEntries(bindings) as Env; // the same names and types
  return counted;
}

function isNamespace(value: unknown): value is DurableObjectNamespace {
  return typeof value === "object" && value !== null && "idFromName" in value;
}
