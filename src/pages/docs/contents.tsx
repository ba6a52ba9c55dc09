/** The table of contents beside the page. */
import type { Section } from "./introduction.tsx";
import { slug } from "./markdown.tsx";
import type { OpenApi, OperationEntry } from "./openapi-model.ts";

type Props = {
  readonly sections: readonly Section[];
  readonly operations: readonly OperationEntry[];
  readonly openapi: OpenApi;
};

export function Contents({ sections, operations, openapi }: Props) {
  return (
    <nav id="contents" aria-label="Contents">
      <ul>
        {sections.map(({ heading }) => heading && <Item key={heading} id={slug(heading)} text={heading} />)}
        <li>
          <a href="#operations">Operations</a>
          <ul>
            {operations.map((entry) => (
              <OperationItem key={entry.operation.operationId} {...entry} />
            ))}
          </ul>
        </li>
        <Item id="response-headers" text="Response headers" />
        {Object.keys(openapi.components.schemas).map((name) => (
          <Item key={name} id={`schema-${slug(name)}`} text={name} />
        ))}
      </ul>
    </nav>
  );
}

function Item({ id, text }: { readonly id: string; readonly text: string }) {
  return (
    <li>
      <a href={`#${id}`}>{text}</a>
    </li>
  );
}

function OperationItem({ method, operation }: OperationEntry) {
  return (
    <li>
      <a href={`#${operation.operationId}`} class={operation.deprecated ? "deprecated" : undefined}>
        <span class={`method ${method.toLowerCase()}`}>{method === "DELETE" ? "DEL" : method}</span>{" "}
        {operation.summary}
      </a>
    </li>
  );
}
