/** As much of the OpenAPI document as the page shows. It comes from our own service, whose tests hold it to this shape. */

export type Schema = {
  readonly $ref?: string;
  readonly type?: string;
  readonly format?: string;
  readonly description?: string;
  readonly enum?: readonly string[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
};

export type Parameter = {
  readonly name: string;
  readonly in: "path" | "header";
  readonly required: boolean;
  readonly description: string;
  readonly schema: Schema;
  readonly example: string | number;
};

export type Response = {
  readonly description: string;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly content?: Readonly<Record<string, MediaType>>;
};

type MediaType = { readonly examples: Readonly<Record<string, { summary: string; value: unknown }>> };

export type Operation = {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description: string;
  readonly deprecated?: boolean;
  readonly "x-deprecated-sunset"?: string;
  readonly "x-stability"?: string;
  readonly parameters: readonly Parameter[];
  readonly responses: Readonly<Record<string, Response>>;
};

export type OpenApi = {
  readonly info: { readonly title: string; readonly version: string; readonly description: string };
  readonly servers: readonly { readonly url: string; readonly description: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly headers: Readonly<Record<string, { description: string; example?: string | number }>>;
    readonly schemas: Readonly<Record<string, Schema>>;
  };
};

export async function loadDocument(): Promise<OpenApi> {
  const response = await fetch("/openapi.json");
  if (!response.ok) throw new Error(`/openapi.json answered ${response.status}`);
  // The type above says what it is.
  return (await response.json()) as OpenApi;
}

export type PlacedOperation = {
  readonly method: string;
  readonly path: string;
  readonly operation: Operation;
};

export function operationsOf(openapi: OpenApi): PlacedOperation[] {
  return Object.entries(openapi.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  );
}
