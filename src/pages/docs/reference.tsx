/** The response headers and the schemas of the OpenAPI document. */
import type { ComponentChildren } from "preact";
import { Markdown, slug } from "./markdown.tsx";
import type { OpenApi, SchemaObject } from "./openapi-model.ts";

/** A table of names and what they mean. A table that is wider than the screen scrolls on its own. */
export function FactsTable({ children }: { readonly children: ComponentChildren }) {
  return (
    <div class="scrollable">
      <table class="facts">
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}

export function typeOf({ type, format }: SchemaObject): string {
  return format === undefined ? (type ?? "any") : `${type} (${format})`;
}

export function ResponseHeaders({ openapi }: { readonly openapi: OpenApi }) {
  return (
    <>
      <h2 id="response-headers">Response headers</h2>
      <FactsTable>
        {Object.entries(openapi.components.headers).map(([name, { description, example }]) => (
          <tr key={name} id={`header-${slug(name)}`} data-search={name}>
            <th scope="row">
              <code>{name}</code>
            </th>
            <td>
              <Markdown text={description} />
              {example !== undefined && <code class="example">{example}</code>}
            </td>
          </tr>
        ))}
      </FactsTable>
    </>
  );
}

export function Schemas({ openapi }: { readonly openapi: OpenApi }) {
  return (
    <>
      {Object.entries(openapi.components.schemas).map(([name, schema]) => (
        <section key={name} data-search={name}>
          <h2 id={`schema-${slug(name)}`}>{name}</h2>
          <Markdown text={schema.description ?? ""} />
          <FactsTable>
            {Object.entries(schema.properties ?? {}).map(([property, fields]) => (
              <tr key={property}>
                <th scope="row">
                  <code>{property}</code>
                </th>
                <td>
                  {typeOf(fields)}
                  {schema.required?.includes(property) && ", required"}
                </td>
                <td>
                  <Markdown text={fields.description ?? ""} />
                </td>
              </tr>
            ))}
          </FactsTable>
        </section>
      ))}
    </>
  );
}
