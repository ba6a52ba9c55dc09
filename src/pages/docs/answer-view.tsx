/** A response of the service: status, limit, headers, body. */
import { prettyJson } from "../shared/exact-json.ts";
import { formatDuration } from "../shared/format.ts";
import { ScrollBox } from "../shared/scroll-box.tsx";
import type { OperationObject } from "./openapi-model.ts";

/** A longer text would make a phone slow. */
const MAX_SHOWN_CHARS = 20_000;

export type Answer = { readonly response: Response; readonly text: string } | { readonly problem: string };

type Props = { readonly answer: Answer; readonly operation: OperationObject };

/** Shows the headers that the operation documents, and the other ones in a collapsed list. */
export function AnswerView({ answer, operation }: Props) {
  if ("problem" in answer) return <p class="problem">No answer: {answer.problem}</p>;
  const { response, text } = answer;
  const documented = Object.values(operation.responses).flatMap(({ headers }) => Object.keys(headers));
  const names = [...new Set(documented)].filter((name) => response.headers.has(name));
  const known = names.map((name): Header => [name, response.headers.get(name) ?? ""]);
  const others = [...response.headers].filter(([name]) => !names.some((each) => each.toLowerCase() === name));
  return (
    <>
      <p>
        <span class={`status s${String(response.status).charAt(0)}`}>{response.status}</span>{" "}
        {response.statusText}
      </p>
      <Meaning response={response} operation={operation} />
      <RemainingMeter headers={response.headers} />
      <HeaderTable headers={known} />
      {text !== "" && <Body text={text} of={operation.summary} />}
      <details>
        <summary>{others.length} other headers</summary>
        <HeaderTable headers={others} />
      </details>
    </>
  );
}

/** What a success means. An error says it in its body. */
function Meaning({
  response,
  operation,
}: {
  readonly response: Response;
  readonly operation: OperationObject;
}) {
  const { status, headers } = response;
  if (status === 429) {
    const waitSeconds = Number(headers.get("Retry-After"));
    return <p>Wait for {formatDuration(waitSeconds)}: each earlier request is refused too.</p>;
  }
  if (status === 304) {
    return <p>The list is the one with the ETag in If-None-Match. Empty that field to get it again.</p>;
  }
  const description = operation.responses[status]?.description;
  return status < 400 && description !== undefined ? <p>{description}</p> : null;
}

type Header = readonly [name: string, value: string];

function HeaderTable({ headers }: { readonly headers: readonly Header[] }) {
  return (
    <table>
      <tbody>
        {headers.map(([name, value]) => (
          <tr key={name}>
            <th scope="row">{name}</th>
            <td>{value}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** The remaining part of the window, as a bar. */
function RemainingMeter({ headers }: { readonly headers: Headers }) {
  const limit = Number(headers.get("X-RateLimit-Limit"));
  const remaining = headers.get("X-RateLimit-Remaining");
  if (limit === 0 || remaining === null) return null;
  const until = new Date(Number(headers.get("X-RateLimit-Reset")) * 1000).toLocaleTimeString();
  return (
    <label class="left">
      {remaining} of {limit} requests left until {until}
      <meter min={0} max={limit} low={limit / 5} optimum={limit} value={Number(remaining)} />
    </label>
  );
}

function Body({ text, of }: { readonly text: string; readonly of: string }) {
  return (
    <ScrollBox label={`Response: ${of}`} class="body">
      <pre>{shortened(prettyJson(text))}</pre>
    </ScrollBox>
  );
}

function shortened(text: string): string {
  if (text.length <= MAX_SHOWN_CHARS) return text;
  return `${text.slice(0, MAX_SHOWN_CHARS)}\n… and ${text.length - MAX_SHOWN_CHARS} more characters`;
}
