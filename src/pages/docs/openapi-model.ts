/** The part of the OpenAPI document that the page shows, in the specification's own terms (Schema Object, …). */

export type SchemaObject = {
  readonly $ref?: string;
  readonly type?: string;
  readonly format?: string;
  readonly description?: string;
  readonly enum?: readonly string[];
  readonly items?: SchemaObject;
  readonly properties?: Readonly<Record<string, SchemaObject>>;
  readonly required?: readonly string[];
};

export type ParameterObject = {
  readonly name: string;
  readonly in: "path" | "header";
  readonly required: boolean;
  readonly description: string;
  readonly schema: SchemaObject;
  readonly example: string | number;
};

export type ResponseObject = {
  readonly description: string;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly content?: Readonly<Record<string, MediaType>>;
};

type MediaType = { readonly examples: Readonly<Record<string, { summary: string; value: unknown }>> };

export type OperationObject = {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description: string;
  readonly deprecated?: boolean;
  readonly "x-deprecated-sunset"?: string;
  readonly "x-stability"?: string;
  readonly parameters: readonly ParameterObject[];
  readonly responses: Readonly<Record<string, ResponseObject>>;
};

export type OpenApi = {
  readonly info: {
    readonly title: string;
    readonly version: string;
    readonly description: string;
    readonly contact: { readonly email?: string; readonly url?: string };
  };
  readonly servers: readonly { readonly url: string; readonly description: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, OperationObject>>>>;
  readonly components: {
    readonly headers: Readonly<Record<string, { description: string; example?: string | number }>>;
    readonly schemas: Readonly<Record<string, SchemaObject>>;
  };
};

export async function loadDocument(): Promise<OpenApi> {
  const response = await fetch("/openapi.json");
  if (!response.ok) throw new Error(`/openapi.json answered ${response.status}`);
  // The service's own document; its tests check that it has this shape.
  return (await response.json()) as OpenApi;
}

export type OperationEntry = {
  readonly method: string;
  readonly path: string;
  readonly operation: OperationObject;
};

export function operationsOf(openapi: OpenApi): OperationEntry[] {
  return Object.entries(openapi.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  );
}
