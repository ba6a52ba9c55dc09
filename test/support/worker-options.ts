/** A Worker in Miniflare with the bindings of wrangler.toml, for tests with several Workers, one D1 and one class of limiters. */
import { parse } from "smol-toml";
import { readText } from "./sources.ts";

/** No test reaches it. */
const PER_IP_LIMIT = { limit: 1_000_000_000, period: 60 as const };

type Options = {
  readonly name: string;
  readonly script: string;
  readonly database: string;
  /** More databases, by binding. */
  readonly databases?: Readonly<Record<string, string>>;
  /** The Worker whose class of limiters this one uses, if not its own. */
  readonly limitersOf?: string | undefined;
  readonly bindings: Readonly<Record<string, string>>;
};

export function compatibilityDateOf(toml: string): string {
  const { compatibility_date: date } = parse(toml);
  if (typeof date !== "string") throw new Error("wrangler.toml has no compatibility_date");
  return date;
}

export function workerOptions({ name, script, database, databases, limitersOf, bindings }: Options) {
  return {
    name,
    modules: [{ type: "ESModule" as const, path: "worker.js", contents: script }],
    compatibilityDate: compatibilityDateOf(readText("wrangler.toml")),
    bindings: { ...bindings },
    d1Databases: { DB: database, ...databases },
    durableObjects: {
      KEY_LIMITER: {
        className: "KeyLimiter",
        useSQLite: true,
        ...(limitersOf === undefined ? {} : { scriptName: limitersOf }),
      },
    },
    ratelimits: {
      ADMIN_SIGN_IN_IP_RATE_LIMIT: { namespace_id: "2", simple: PER_IP_LIMIT },
    },
    unsafeDirectSockets: [{ host: "127.0.0.1", port: 0 }],
  };
}
