/** The URL of a request whose Host header workerd has passed on unchecked. */
import { describe, it } from "vitest";
import { urlOf } from "../../src/worker/request-url.ts";

describe("the URL of a request", () => {
  it("is parsed", ({ expect }) => {
    expect(urlOf({ url: "https://api.example/openapi.json?x" }).origin).toBe("https://api.example");
  });

  for (const host of ["a b", "localhost, localhost", "[::1", "x:99999"]) {
    it(`is a 400 with the Host ${host}`, ({ expect }) => {
      expect(() => urlOf({ url: `http://${host}/` })).toThrow(
        expect.objectContaining({ code: "invalid_request", message: "The Host header is not valid." }),
      );
    });
  }
});
