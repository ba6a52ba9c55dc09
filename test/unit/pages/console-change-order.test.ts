/** The console's change of an order, against something that answers in its place. */
import { afterEach, describe, it, vi } from "vitest";
import { changeOrder } from "../../../src/pages/console/orders/change-order.ts";

afterEach(() => {
  vi.unstubAllGlobals();
});

const session = { token: "a token", operator: "", ended: new AbortController().signal };

/** What the console makes of this answer, which has status 200. */
function change(answer: string, init: RequestInit = { method: "PATCH", body: '{"status":"shipped"}' }) {
  vi.stubGlobal("fetch", async () => new Response(answer));
  const status = init.method === "PATCH" ? ({ status: "shipped" } as const) : {};
  return changeOrder(session, { id: "9007199254740993", ...status }, init);
}

describe("a changed order", () => {
  it("is the one that the answer has", async ({ expect }) => {
    await expect(change('{"id":9007199254740993,"status":"shipped"}')).resolves.toBeUndefined();
    const deleted = change('{"id":9007199254740993,"status":"any"}', { method: "DELETE" });
    await expect(deleted).resolves.toBeUndefined();
  });

  it("is not believed of the page of a proxy, or of another order", async ({ expect }) => {
    const others = ["<html>Sign in</html>", "", "null", "{}", '"text"'];
    others.push('{"id":9007199254740992,"status":"shipped"}', '{"id":9007199254740993,"status":"pending"}');
    for (const answer of others)
      await expect(change(answer), answer).rejects.toMatchObject({ kind: "unreachable" });
    await expect(change("<html>", { method: "DELETE" })).rejects.toMatchObject({ kind: "unreachable" });
  });
});
