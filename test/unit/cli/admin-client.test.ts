/** The typed client of the admin API: this file compiles only while the client has the types of the routes. */
import { describe, expectTypeOf, it } from "vitest";
import { adminClient, failureOf } from "../../../src/cli/admin-client.ts";
import type { BanView } from "../../../src/worker/db/ban-repository.ts";
import type { KeyView } from "../../../src/worker/db/key-repository.ts";

const client = adminClient({ baseUrl: "http://localhost:1", token: "t" });

type BodyOf<Call extends (...args: never[]) => Promise<{ json(): Promise<unknown> }>> = Awaited<
  ReturnType<Awaited<ReturnType<Call>>["json"]>
>;

describe("the typed client", () => {
  it("has the type of each response", () => {
    expectTypeOf<BodyOf<typeof client.keys.$get>["keys"][number]["limits"]>().toEqualTypeOf<
      KeyView["limits"]
    >();
    expectTypeOf<BodyOf<typeof client.keys.$post>["key"]>().toEqualTypeOf<string>();
    expectTypeOf<BodyOf<typeof client.bans.$get>["bans"][number]["cause"]>().toEqualTypeOf<
      BanView["cause"]
    >();
    expectTypeOf<BodyOf<typeof client.usage.$get>["keys"][number]["admitted"]>().toEqualTypeOf<number>();
    type Effective = BodyOf<(typeof client.keys)[":id"]["$patch"]>["effective"];
    expectTypeOf<Effective>().toEqualTypeOf<"immediately" | "within 60 seconds">();
  });

  it("has the type of each request body", () => {
    type NewKey = Parameters<typeof client.keys.$post>[0]["json"];
    expectTypeOf<NewKey["plan"]>().toEqualTypeOf<"free" | "pro" | "business" | "enterprise">();
    // @ts-expect-error: a plan that does not exist
    expectTypeOf<NewKey>().toExtend<{ plan: "gold" }>();
    // @ts-expect-error: a field that no key has
    expectTypeOf<NewKey["price"]>().toBeAny();
  });

  it("sends requests to /admin, with and without a slash at the end of the base URL", ({ expect }) => {
    for (const baseUrl of ["http://localhost:1", "http://localhost:1/"]) {
      const url = adminClient({ baseUrl, token: "t" }).keys[":id"].usage.$url({
        param: { id: "key_1" },
        query: {},
      });
      expect(url.href).toBe("http://localhost:1/admin/keys/key_1/usage");
    }
  });
});

describe("an unsuccessful response", () => {
  const failure = async (status: number, body: string) =>
    (await failureOf(new Response(body, { status }))).message;

  it("gives the message of the service, or the status if there is none", async ({ expect }) => {
    expect(await failure(409, '{"code":"conflict","message":"No.","status":409}')).toBe("No.");
    expect(await failure(502, "<html>bad gateway</html>")).toBe("The service answered 502.");
    expect(await failure(500, "{}")).toBe("The service answered 500.");
    for (const body of ["null", '"no"', '{"message":["No."]}', '{"code":1,"message":{}}', '{"message":" "}'])
      expect(await failure(404, body)).toBe("The service answered 404.");
    expect(await failure(404, '{"code":["x"],"message":"No."}')).toBe("No.");
  });

  it("names the options, not the fields of the request, and is bounded", async ({ expect }) => {
    const message =
      "requestsPerDay: is required; name: must be text; graceSeconds: must be a number; file: is bad; to: is no date; before: is no cursor";
    const body = JSON.stringify({ code: "invalid_request", message, status: 400 });
    expect(await failure(400, body)).toBe(
      "--per-day: is required; --name: must be text; --grace, in seconds: must be a number; the name of the file: is bad; --until: is no date; --after: is no cursor",
    );
    expect(await failure(500, JSON.stringify({ message: "x".repeat(100_000) }))).toHaveLength(1_000);
  });

  it("names the likely cause if the admin API is not available", async ({ expect }) => {
    const body = '{"code":"not_found","message":"The requested resource could not be found.","status":404}';
    expect(await failure(404, body)).toContain(
      "The admin API is not available. The Worker needs an ADMIN_TOKEN of 32 characters or more, and no blanks.",
    );
  });
});
