/** Which crons of wrangler.toml `npm start` runs in a minute. */
import { describe, it } from "vitest";
import { dueCrons } from "../../../src/tools/crons.ts";

describe("the crons of a minute", () => {
  it.for([
    ["2026-11-28T10:22:59.999Z", ["* * * * *"]],
    ["2026-11-28T10:23:00.100Z", ["23 * * * *", "* * * * *"]],
    ["2026-11-28T11:23:59Z", ["23 * * * *", "* * * * *"]],
  ] as const)("at %s are %j", ([at, due], { expect }) => {
    expect(dueCrons(["23 * * * *", "* * * * *"], Date.parse(at))).toEqual(due);
  });
});
