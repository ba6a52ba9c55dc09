/** The response headers and the schemas of the OpenAPI document. */
import type { ComponentChildren } from "preact";
import { ScrollBox } from "../shared/scroll-box.tsx";
import { Markdown, slug } from "./markdown.tsx";
import type { OpenApi, SchemaObject } from "./openapi-model.ts";

type FactsProps = { readonly label: string; readonly children: ComponentChildren };

/** A table of names and what they mean. */
export function FactsTable({ label, children }: FactsProps) {
  return (
    <ScrollBox label={label}>
      <table class="facts">
        <tbody>{children}</tbody>
      </table>
    </ScrollBox>
  );
}

export function typeOf({ type, format }: SchemaObject): string {
  return format === undefined ? (type ?? "any") : `${type} (${format})`;
}

export function ResponseHeaders({ openapi }: { readonly openapi: OpenApi }) {
  return (
    <section id="response-headers" data-search="Response headers">
      <h2>Response headers</h2>
      <FactsTable label="Response headers">
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
    </section>
  );
}

export function Schemas({ openapi }: { readonly openapi: OpenApi }) {
  return (
    <>
      {Object.entries(openapi.components.schemas).map(([name, schema]) => (
        <section key={name} id={`schema-${slug(name)}`} data-search={`${name} (schema)`}>
          <h2>{name}</h2>
          <Markdown text={schema.description ?? ""} />
          <FactsTable label={`Members of ${name}`}>
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
