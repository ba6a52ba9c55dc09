/** The requests of the documentation page, and their curl commands. */
import { describe, it } from "vitest";
import { curlOf, requestOf } from "../../../src/pages/docs/request.ts";

const BASE_URL = "https://orders.example/v1";
const list = (etag: string) => ({
  method: "GET",
  path: "/store/orders",
  pathFields: {},
  headerFields: { "If-None-Match": etag },
});
const cancel = (orderId: string) => ({
  method: "DELETE",
  path: "/store/orders/{orderId}",
  pathFields: { orderId },
  headerFields: {},
});

describe("a request", () => {
  it("is made by a browser that has no toWellFormed, too", ({ expect }) => {
    const { toWellFormed } = String.prototype;
    Reflect.deleteProperty(String.prototype, "toWellFormed");
    try {
      expect(requestOf(cancel("10"), BASE_URL).url).toBe(`${BASE_URL}/store/orders/10`);
    } finally {
      Object.assign(String.prototype, { toWellFormed });
    }
  });

  it("has the path parameters, encoded, and the headers that are filled in", ({ expect }) => {
    expect(requestOf(cancel(" 10 "), BASE_URL)).toEqual({
      method: "DELETE",
      url: `${BASE_URL}/store/orders/10`,
      headers: {},
    });
    expect(requestOf(cancel("1/../2"), BASE_URL).url).toBe(`${BASE_URL}/store/orders/1%2F..%2F2`);
    for (const half of ["\ud83d", "\ude00"])
      expect(requestOf(cancel(`1${half}`), BASE_URL).url).toBe(`${BASE_URL}/store/orders/1%EF%BF%BD`);
    expect(requestOf(cancel("\ud83d\ude00"), BASE_URL).url).toBe(`${BASE_URL}/store/orders/%F0%9F%98%80`);
    expect(requestOf(list(' "7-ab" '), BASE_URL).headers).toEqual({ "If-None-Match": '"7-ab"' });
    expect(requestOf(list(" "), BASE_URL).headers).toEqual({});
  });
});

describe("a curl command", () => {
  it("sends the same request with the key in a variable", ({ expect }) => {
    expect(curlOf(list(""), BASE_URL)).toBe(
      `curl -i \\\n  -H "Authorization: Bearer $KEY" \\\n  "${BASE_URL}/store/orders"`,
    );
    expect(curlOf(cancel("10"), BASE_URL)).toContain(`curl -i -X DELETE \\\n`);
    expect(curlOf(cancel("10"), BASE_URL)).toContain(`"${BASE_URL}/store/orders/10"`);
  });

  it("has a variable for a path parameter that is empty, or that a URL cannot have", ({ expect }) => {
    for (const orderId of ["", " . ", ".."]) {
      expect(curlOf(cancel(orderId), BASE_URL)).toContain(`"${BASE_URL}/store/orders/$ORDER_ID"`);
    }
    expect(curlOf(cancel("..."), BASE_URL)).toContain(`"${BASE_URL}/store/orders/..."`);
  });

  it("quotes the headers for a shell", ({ expect }) => {
    expect(curlOf(list(`"7-ab"`), BASE_URL)).toContain(`-H 'If-None-Match: "7-ab"' \\\n`);
    expect(curlOf(list("it's"), BASE_URL)).toContain(String.raw`-H 'If-None-Match: it'\''s'`);
  });
});
