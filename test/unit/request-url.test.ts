/** The URL of a request as its client sent it, whose Host header workerd has passed on unchecked. */
import { describe, it } from "vitest";
import { isOwnOrigin, urlOf, wasSentOverHttps } from "../../src/worker/platform/request-url.ts";

const request = (url: string, visitor?: string) => ({
  url,
  headers: new Headers(visitor === undefined ? {} : { "CF-Visitor": visitor }),
});

describe("the URL of a request", () => {
  it("is parsed", ({ expect }) => {
    expect(urlOf(request("https://api.example/openapi.json?x")).origin).toBe("https://api.example");
  });

  for (const [url, visitor, origin] of [
    ["http://api.example/x", '{"scheme":"https"}', "https://api.example"],
    ["http://api.example:8443/x", '{"scheme":"https"}', "https://api.example:8443"],
    ["http://api.example/x", '{"scheme":"http"}', "http://api.example"],
    ["http://localhost:8787/x", undefined, "http://localhost:8787"],
    ["https://api.example/x", '{"scheme":"http"}', "https://api.example"],
  ] as const) {
    it(`has the client's scheme: ${url} with CF-Visitor ${visitor} is of ${origin}`, ({ expect }) => {
      expect(urlOf(request(url, visitor)).origin).toBe(origin);
      expect(wasSentOverHttps(request(url, visitor))).toBe(origin.startsWith("https:"));
    });
  }

  for (const host of ["a b", "localhost, localhost", "[::1", "x:99999"]) {
    it(`is a 400 with the Host ${host}`, ({ expect }) => {
      expect(() => urlOf(request(`http://${host}/`))).toThrow(
        expect.objectContaining({ code: "invalid_request", message: "The Host header is not valid." }),
      );
    });
  }

  it.for([
    ["https://demo.example/x", undefined, "https://demo.example", true],
    ["https://demo.example/x", undefined, "http://demo.example", false],
    ["http://demo.example/x", '{"scheme":"https"}', "https://demo.example", true],
    ["http://demo.example/x", '{"scheme":"https"}', "http://demo.example", true], // as wrangler's proxy writes it
    ["http://demo.example/x", '{"scheme":"https"}', "https://other.example", false],
    ["http://localhost:8787/x", undefined, "http://localhost:8788", false],
    ["https://demo.example/x", undefined, "null", false],
  ] as const)(
    "%s with CF-Visitor %s: %s is its own origin: %s",
    ([url, visitor, origin, isOwn], { expect }) => {
      expect(isOwnOrigin(origin, request(url, visitor))).toBe(isOwn);
    },
  );
});
