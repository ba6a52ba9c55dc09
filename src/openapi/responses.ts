/** The responses of one operation, generated from the error codes that it can answer with. */

import { ERROR_CATALOGUE, type PublicCode, statusOf } from "./error-catalogue.ts";
import { headersOfStatus } from "./headers.ts";
import type { Json, JsonObject } from "./json.ts";
import type { Lifecycle } from "./lifecycle.ts";

export type Success = {
  readonly status: number;
  readonly description: string;
  readonly content?: JsonObject;
};

/** By status, successes first. An operation without a success has a `default` response that says so. */
export function responsesOf(
  successes: readonly Success[],
  codes: readonly PublicCode[],
  lifecycle: Lifecycle,
): JsonObject {
  const statuses = [...new Set(codes.map(statusOf))].sort((a, b) => a - b);
  const ofCodes = (status: number) => codes.filter((code) => statusOf(code) === status);
  return Object.fromEntries<Json>([
    ...successes.map(({ status, description, content }): [string, JsonObject] => [
      String(status),
      { description, headers: headersOfStatus(status, lifecycle), content },
    ]),
    ...statuses.map((status): [string, JsonObject] => [
      String(status),
      errorResponse(status, ofCodes(status), lifecycle),
    ]),
    ...(successes.length === 0 ? [["default", defaultErrorResponse(codes, lifecycle)] as const] : []),
  ]);
}

/** Narrows the Error schema to this status and its codes. */
function errorResponse(status: number, codes: readonly PublicCode[], lifecycle: Lifecycle): JsonObject {
  return {
    description: codes.map((code) => `\`${code}\`: ${ERROR_CATALOGUE[code].when}`).join("\n\n"),
    headers: headersOfStatus(status, lifecycle),
    content: {
      "application/json": {
        schema: {
          allOf: [
            { $ref: "#/components/schemas/Error" },
            {
              type: "object",
              properties: {
                code: { type: "string", enum: codes },
                status: { type: "integer", format: "int32", const: status },
              },
            },
          ],
        },
        examples: Object.fromEntries(codes.map((code) => [code, exampleOf(code)])),
      },
    },
  };
}

function defaultErrorResponse(codes: readonly PublicCode[], lifecycle: Lifecycle): JsonObject {
  return {
    description: "Every answer of this operation is an error.",
    headers: headersOfStatus(0, lifecycle),
    content: {
      "application/json": {
        schema: { $ref: "#/components/schemas/Error" },
        examples: Object.fromEntries(codes.slice(0, 1).map((code) => [code, exampleOf(code)])),
      },
    },
  };
}

function exampleOf(code: PublicCode): JsonObject {
  const { message } = ERROR_CATALOGUE[code];
  return { summary: code, value: { code, message, status: statusOf(code) } };
}
