/** A response of an operation as HTTP text, from the examples in the OpenAPI document. Pure. */
import type { OpenApi, OperationObject } from "./openapi-model.ts";

export type Sample = {
  readonly status: string;
  /** The headers that the text shows, some with another value than the document's example. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** Which example of the body; the first one if absent. */
  readonly example?: string;
};

const REASONS: Readonly<Record<string, string>> = { "200": "OK", "429": "Too Many Requests" };

export function sampleResponse(openapi: OpenApi, operation: OperationObject, sample: Sample): string {
  const { status } = sample;
  const examples = operation.responses[status]?.content?.["application/json"]?.examples ?? {};
  const example = sample.example === undefined ? Object.values(examples)[0] : examples[sample.example];
  const headers = Object.entries(sample.headers).map(
    ([name, value]) => `${name}: ${value ?? openapi.components.headers[name]?.example}`,
  );
  return [
    `HTTP/1.1 ${status} ${REASONS[status] ?? ""}`.trimEnd(),
    ...headers,
    "",
    bodyText(example?.value),
  ].join("\n");
}

/** One item of a list on each line. */
function bodyText(value: unknown): string {
  if (!Array.isArray(value)) return JSON.stringify(value, null, 2);
  return `[\n${value.map((item) => `  ${JSON.stringify(item)}`).join(",\n")}\n]`;
}
