/** What the console takes for an answer of the admin API. */
import { afterEach, describe, it, vi } from "vitest";
import { adminClient, csvOf, jsonOf } from "../../../src/pages/console/admin-client.ts";

afterEach(() => {
  vi.unstubAllGlobals();
});

/** What the console makes of this answer to a rotation, which has status 200. */
function rotated(answer: string) {
  vi.stubGlobal("fetch", async () => new Response(answer));
  const client = adminClient({ token: "a token", operator: "" });
  const call = client.keys[":id"].rotate.$post({ param: { id: "key_1" }, json: { graceSeconds: 0 } });
  return jsonOf(call, "key", "effective");
}

describe("an answer of the admin API", () => {
  it("has the members that are read, and can have others", async ({ expect }) => {
    const answer = { key: "sok_", effective: "immediately", added: "by a newer version" };
    expect(await rotated(JSON.stringify(answer))).toEqual(answer);
  });

  it("is not what something else answered, such as a proxy in between", async ({ expect }) => {
    const others = ["<html>Sign in</html>", "", "{}", "null", "[]", '"key"', '{"effective":"immediately"}'];
    for (const answer of others)
      await expect(rotated(answer), answer).rejects.toMatchObject({ kind: "unreachable" });
  });
});

describe("a CSV file", () => {
  it("is not a page of a proxy in between, and not a file without a content type", async ({ expect }) => {
    const saved = (headers: HeadersInit) =>
      csvOf(Promise.resolve(new Response(new TextEncoder().encode("key,requests"), { headers })));
    expect(await saved({ "Content-Type": "text/csv; charset=utf-8; header=present" })).toBe("key,requests");
    for (const headers of [{ "Content-Type": "text/html; charset=utf-8" }, {}])
      await expect(saved(headers)).rejects.toMatchObject({ kind: "unreachable" });
  });
});
