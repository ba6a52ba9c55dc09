/** The members of bodies and queries: every wrong one is named, with what it must be. */
import { describe, it } from "vitest";
import { CALLS } from "../../../src/worker/admin/calls.ts";
import { check, describeProblems, type ObjectSchema } from "../../../src/worker/text/check-schema.ts";

const NEW_KEY = { name: "acme", plan: "pro" };

const WRONG_BODIES: [call: string, body: object, problems: string[]][] = [
  ["keys.create", {}, ["name: is required", "plan: is required"]],
  ["keys.create", [NEW_KEY], ["is not a JSON object"]],
  [
    "keys.create",
    { name: " ", plan: "gold", requestsPerMinute: 0, requestsPerDay: 1.5, expiresAt: "soon", a: 1 },
    [
      "name: must not",
      "plan: must be",
      "requestsPerMinute: ",
      "requestsPerDay: ",
      "expiresAt: ",
      "a: is not",
    ],
  ],
  ["keys.create", { ...NEW_KEY, expiresAt: "2020-01-01" }, ["expiresAt: must lie in the future"]],
  ["keys.create", { ...NEW_KEY, expiresAt: "9999-12-31T23:59:59-12:00" }, ["expiresAt: must be a date"]],
  ["keys.create", { ...NEW_KEY, expiresAt: "2027-02-30" }, ["expiresAt: must be a date"]],
  ["keys.create", { ...NEW_KEY, id: "key_1" }, ["id: must be key_ and 12 letters or digits"]],
  ["keys.create", { ...NEW_KEY, constructor: 1 }, ["constructor: is not a known field"]],
  [
    "keys.create",
    { ...NEW_KEY, requestsPerMinute: 30_001, requestsPerDay: 43_200_001 },
    [
      "requestsPerMinute: must be a whole number from 1 to 30000, the most that one limiter serves",
      "requestsPerDay: must be a whole number from 1 to 43200000, the most that one limiter serves",
    ],
  ],
  ["keys.update", { disabled: "yes", limit: 1 }, ["disabled: must be", "limit: is not a known"]],
  [
    "keys.update",
    { customer: "a\u202eb", note: "a\tb" },
    ["customer: must not have", "note: must not have control"],
  ],
  [
    "customers.update",
    { name: "cus_aaaaaaaaaaaa", email: `${"a".repeat(250)}@b.test` },
    ["name: must not look like the id", "email: must have at most 254"],
  ],
  ["keys.rotate", { graceSeconds: -1 }, ["graceSeconds: must be a whole number from 0"]],
  ["keys.create", { ...NEW_KEY, location: "moon" }, ["location: must be one of wnam, "]],
  [
    "keys.limit_temporarily",
    { requestsPerMinute: 0, requestsPerDay: 1e12, days: 1.5 },
    ["requestsPerMinute: must be", "requestsPerDay: must be", "days: must be a whole number from 1 to 366"],
  ],
  ["keys.limit_temporarily", { days: 0 }, ["days: must be"]],
  ["keys.limit_temporarily", { days: 367 }, ["days: must be"]],
  ["bans.set", {}, ["seconds: is required", "reason: is required"]],
  ["plans.update", { alertPercents: [80, 50] }, ["alertPercents: must be 1 to 5 whole numbers"]],
  ["plans.update", { alertPercents: [50, 101] }, ["alertPercents: must be a whole number from 1 to 100"]],
  ["plans.update", { alertPercents: [] }, ["alertPercents: must be 1 to 5 whole numbers"]],
];

const WRONG_QUERIES: [call: string, query: string, problems: string[]][] = [
  ["keys.list", "limit=0&plan=gold&name=a", ["plan: ", "limit: ", "name: is not a known"]],
  ["keys.list", "sort=size&direction=up", ["sort: must be", "direction: must be"]],
  [
    "keys.list",
    "unusedSince=2026-02-30&expiringBefore=soon",
    ["expiringBefore: ", "unusedSince: must be a date"],
  ],
  ["keys.list", "unusedSince=tomorrow", ["unusedSince: must not lie in the future"]],
  ["keys.usage", "by=key&from=soon", ["from: must be a date", "by: must be one of"]],
  ["usage.list", "sort=size&format=xml&by=week", ["by: ", "sort: ", "format: "]],
  ["bans.list", "state=ended", ["state: must be one of live, past, all"]],
  ["audit.list", "call=none&limit=501", ["call: ", "limit: "]],
];

function problemsOf(schema: ObjectSchema | undefined, input: object): string[] {
  if (schema === undefined) throw new Error("the call takes no such members");
  const checked = check(schema, input);
  return checked.ok ? [] : describeProblems(checked.problems).split("; ");
}

const callOf = (id: string) => CALLS.find((call) => call.id === id);

describe("what is wrong is named", () => {
  it.for(WRONG_BODIES)("in the body of %s: %j", ([id, body, problems], { expect }) => {
    const found = problemsOf(callOf(id)?.body, body);
    expect(found).toEqual(problems.map((start) => expect.stringContaining(start)));
  });

  it.for(WRONG_QUERIES)("in the query of %s: %s", ([id, query, problems], { expect }) => {
    const found = problemsOf(callOf(id)?.query, Object.fromEntries(new URLSearchParams(query)));
    expect(found).toEqual(problems.map((start) => expect.stringContaining(start)));
  });

  it("in bounded text, whatever is sent", ({ expect }) => {
    const long = "a".repeat(1_000);
    const wrong = [long, { [long]: long }, [long], [[long]], [{ [long]: long }], Array(1_000).fill(-0.5)];
    for (const schema of CALLS.flatMap(({ body }) => body ?? [])) {
      const names = Object.keys(schema.entries);
      for (const value of wrong) {
        const found = problemsOf(schema, Object.fromEntries(names.map((name) => [name, value])));
        expect(found.join("; ").length, names.join()).toBeLessThan(1_000);
      }
    }
  });
});
