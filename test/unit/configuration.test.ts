/** wrangler.toml: what the code and the promises rely on, in both environments. */
import { parse } from "smol-toml";
import { describe, it } from "vitest";
import { MAX_FAILURES } from "../../src/worker/admin/sign-in/sign-in-limit.ts";
import { readText } from "../support/sources.ts";

type Environment = {
  d1_databases: { binding: string; preview_database_id?: string }[];
  durable_objects: unknown;
  ratelimits: { name: string; simple: { limit: number; period: number } }[];
};
type Configuration = Environment & {
  observability: unknown;
  triggers: { crons: string[] };
  env: { staging: Environment };
};

// The tests below fail on any member that is not as this type says.
const production = parse(readText("wrangler.toml")) as unknown as Configuration;
const { staging } = production.env;

describe("wrangler.toml", () => {
  it("has the per-IP limit that the code documents", ({ expect }) => {
    expect(production.ratelimits.map(({ name, simple }) => ({ name, ...simple }))).toEqual([
      { name: "ADMIN_SIGN_IN_IP_RATE_LIMIT", limit: MAX_FAILURES, period: 60 },
    ]);
  });

  it("gives staging the bindings of production, which wrangler does not inherit", ({ expect }) => {
    const bindings = ({ d1_databases, durable_objects, ratelimits }: Environment) => ({
      d1_databases: d1_databases.map(({ binding }) => binding),
      durable_objects,
      ratelimits: ratelimits.map(({ name, simple }) => ({ name, simple })),
    });
    expect(bindings(staging)).toEqual(bindings(production));
  });

  it("keeps the data of npm start when the real database_id is written", ({ expect }) => {
    expect(production.d1_databases[0]?.preview_database_id).toMatch(/^0{8}-/);
  });

  it("has the two crons that the Worker tells apart", ({ expect }) => {
    expect(production.triggers.crons).toEqual([expect.stringMatching(/^\d+ \* \* \* \*$/), "* * * * *"]);
  });

  it("logs and traces no raw URLs, in which a client may have put a key", ({ expect }) => {
    expect(production.observability).toMatchObject({
      redact_query_string: true,
      logs: { invocation_logs: false },
      traces: { enabled: false },
    });
  });
});
