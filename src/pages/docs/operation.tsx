/** One operation: what it does, its parameters and responses, and the panel that calls it. */
import { InlineMarkdown, Markdown, slug } from "./markdown.tsx";
import type { OperationEntry, OperationObject, ParameterObject, ResponseObject } from "./openapi-model.ts";
import { FactsTable, typeOf } from "./reference.tsx";
import type { Session } from "./session.ts";
import { TryIt } from "./try-it.tsx";

type Props = {
  readonly entry: OperationEntry;
  readonly baseUrl: string;
  readonly session: Session;
};

export function Operation({ entry, baseUrl, session }: Props) {
  const { method, path, operation } = entry;
  const { operationId, summary, deprecated } = operation;
  return (
    <section id={operationId} class="operation" data-search={`${summary} (${method} ${path})`}>
      <div class="about">
        <h3 class={deprecated ? "deprecated" : undefined}>{summary}</h3>
        <p class="route">
          <span class={`method ${method.toLowerCase()}`}>{method}</span> <code>{path}</code>
        </p>
        <Badges operation={operation} />
        <Markdown text={operation.description} />
        {operation.parameters.length > 0 && <Parameters parameters={operation.parameters} of={summary} />}
        <h4>Responses</h4>
        {Object.entries(operation.responses).map(([status, response]) => (
          <Response key={status} status={status} response={response} />
        ))}
      </div>
      <TryIt entry={entry} baseUrl={baseUrl} session={session} />
    </section>
  );
}

function Badges({ operation }: { readonly operation: OperationObject }) {
  const sunset = operation["x-deprecated-sunset"];
  const texts = [
    operation.deprecated ? `deprecated, gone from ${sunset ?? "an unknown date"} on` : undefined,
    operation["x-stability"],
  ].filter((text) => text !== undefined);
  if (texts.length === 0) return null;
  return (
    <p class="badges">
      {texts.map((text) => (
        <span key={text} class="badge warn">
          {text}
        </span>
      ))}
    </p>
  );
}

type ParametersProps = { readonly parameters: readonly ParameterObject[]; readonly of: string };

function Parameters({ parameters, of }: ParametersProps) {
  return (
    <div>
      <h4>Parameters</h4>
      <FactsTable label={`Parameters: ${of}`}>
        {parameters.map((parameter) => (
          <tr key={parameter.name}>
            <th scope="row">
              <code>{parameter.name}</code>
            </th>
            <td>
              {parameter.in}, {typeOf(parameter.schema)}
              {parameter.required && ", required"}
            </td>
            <td>
              <Markdown text={parameter.description} />
            </td>
          </tr>
        ))}
      </FactsTable>
    </div>
  );
}

function Response({ status, response }: { readonly status: string; readonly response: ResponseObject }) {
  const examples = Object.values(response.content?.["application/json"]?.examples ?? {});
  const kind = /^\d/.test(status) ? `s${status.charAt(0)}` : "s4";
  return (
    <details class="response">
      <summary>
        <span class={`status ${kind}`}>{status}</span>
        <span class="meanings">
          {response.description.split("\n\n").map((meaning) => (
            <InlineMarkdown key={meaning} text={meaning} />
          ))}
        </span>
      </summary>
      <p class="names">
        Headers:{" "}
        {Object.keys(response.headers).map((name) => (
          <span key={name}>
            <a href={`#header-${slug(name)}`}>
              <code>{name}</code>
            </a>{" "}
          </span>
        ))}
      </p>
      {examples.map(({ summary, value }) => (
        <pre key={summary}>{JSON.stringify(value, null, 2)}</pre>
      ))}
    </details>
  );
}
