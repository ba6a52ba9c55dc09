/** The inputs that found a defect. Each run begins with them. */
import type { Make } from "./client-inputs.ts";

export const FOUND_BEFORE: readonly Make[] = [
  // 500: the URL of the request could not be parsed
  (_random, _target) => ended("GET /openapi.json HTTP/1.1", ["Host: a b\\"]),
  (_random, _target) => ended("GET /openapi.json HTTP/1.1", ["Host: localhost", "Host: localhost"]),
  (_random, { adminToken }) =>
    ended("GET /admin/usage?format=csv&from=2026-11-19&limit=1 HTTP/1.1", [
      "Host: [::1",
      `Authorization: Bearer ${adminToken}`,
    ]),
  // answers of workerd that were not known
  (_random, _target) => ended(`GET /v1/${"x".repeat(70_000)} HTTP/1.1`, ["Host: localhost"]),
  (_random, _target) => ended("GET /v1 HTTP/1.1", ["Host: localhost", `X-Long: ${"x".repeat(520_000)}`]),
];

function ended(requestLine: string, headers: readonly string[]): ReturnType<Make> {
  return { requestLine, headers, body: "", ending: "ended" };
}
