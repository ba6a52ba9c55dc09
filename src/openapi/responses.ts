/** The error responses of the document. The responses of every operation are in `components.responses`. */
import { ERROR_CATALOGUE, type PublicCode, statusOf } from "./error-catalogue.ts";
import { headersOfStatus } from "./headers.ts";
import type { Json, JsonObject } from "./json.ts";

const SHARED: Readonly<Record<string, readonly [PublicCode, ...PublicCode[]]>> = {
  Unauthorized: ["unauthorized"],
  HttpsRequired: ["https_required"],
  TooManyRequests: ["rate_limit_exceeded", "key_banned"],
  InternalError: ["internal_error"],
  ServiceUnavailable: ["service_unavailable"],
};

/** `components.responses`. */
export function responseComponents(): JsonObject {
  return Object.fromEntries(
    Object.entries(SHARED).map(([name, codes]) => [name, errorResponse(statusOf(codes[0]), codes)]),
  );
}

/** Returns responses by status: the shared responses, and the responses of the operation's own codes. */
export function errorResponses(ownCodes: readonly PublicCode[], isDeprecated: boolean): JsonObject {
  const shared = Object.entries(SHARED).map(([name, codes]): [string, Json] => [
    String(statusOf(codes[0])),
    { $ref: `#/components/responses/${name}` },
  ]);
  const own = [...new Set(ownCodes.map(statusOf))].map((status): [string, Json] => {
    const codes = ownCodes.filter((code) => statusOf(code) === status);
    return [String(status), errorResponse(status, codes, isDeprecated)];
  });
  return Object.fromEntries([...shared, ...own]);
}

function errorResponse(status: number, codes: readonly PublicCode[], isDeprecated = false): JsonObject {
  return {
    description: codes.map((code) => `\`${code}\`: ${ERROR_CATALOGUE[code].when}`).join("\n\n"),
    headers: headersOfStatus(status, isDeprecated),
    content: errorContent(codes),
  };
}

export function errorContent(codes: readonly PublicCode[]): JsonObject {
  const exampleOf = (code: PublicCode) => ({
    value: { code, message: ERROR_CATALOGUE[code].message, status: statusOf(code) },
  });
  return {
    "application/json": {
      schema: { $ref: "#/components/schemas/Error" },
      examples: Object.fromEntries(codes.map((code) => [code, exampleOf(code)])),
    },
  };
}
