/** What the command line and `npm start` add to NO_PROXY. */
import { describe, it } from "vitest";
import { reachLoopbackDirectly } from "../../../src/cli/no-proxy.ts";

const LOOPBACK = "localhost,127.0.0.1,[::1]";

describe("NO_PROXY", () => {
  it.for([
    { before: {}, after: { NO_PROXY: LOOPBACK } },
    { before: { NO_PROXY: "" }, after: { NO_PROXY: LOOPBACK } },
    { before: { NO_PROXY: "a.example" }, after: { NO_PROXY: `a.example,${LOOPBACK}` } },
    { before: { NO_PROXY: "*" }, after: { NO_PROXY: "*" } },
    {
      before: { NO_PROXY: "a.example", no_proxy: "b.example" },
      after: { NO_PROXY: "a.example", no_proxy: `b.example,${LOOPBACK}` },
    },
  ])("has the loopback hosts, where Node reads it: $before", ({ before, after }, { expect }) => {
    const env = { ...before };
    reachLoopbackDirectly(env);
    expect(env).toEqual(after);
  });
});
