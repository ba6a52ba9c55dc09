/** A response of the service: status, limit, headers, body. */
import { useMemo } from "preact/hooks";
import { prettyJson } from "../shared/exact-json.ts";
import { formatDuration, formatTimeOrDate } from "../shared/format.ts";
import { ScrollBox } from "../shared/scroll-box.tsx";
import type { OperationObject } from "./openapi-model.ts";

/** A longer text would make a phone slow. */
const MAX_SHOWN_CHARS = 20_000;

/** A longer text is shown as it is: a list of 200,000 orders would take seconds to indent. */
const MAX_INDENTED_CHARS = 1_000_000;

export type Answer = { readonly response: Response; readonly text: string } | { readonly problem: string };

type Props = {
  readonly answer: Answer;
  readonly operation: OperationObject;
  readonly method: string;
  /** Puts an `ETag` into the field If-None-Match, if the operation has that field. */
  readonly onUseEtag?: ((etag: string) => void) | undefined;
};

/** 0 if the response does not say how long to wait. */
export function retryAfterSeconds({ headers }: Response): number {
  const wait = headers.get("Retry-After") ?? "";
  // The service sends whole seconds. A proxy could send a date.
  return /^\d{1,9}$/.test(wait) ? Number(wait) : 0;
}

/** Shows the headers that the operation documents, and the other ones in a collapsed list. */
export function AnswerView({ answer, operation, method, onUseEtag }: Props) {
  if ("problem" in answer) return <p class="problem">No answer: {answer.problem}</p>;
  const { response, text } = answer;
  const documented = Object.values(operation.responses).flatMap(({ headers }) => Object.keys(headers));
  const names = [...new Set(documented)].filter((name) => response.headers.has(name));
  const etag = response.headers.get("ETag");
  const known = names.map((name): Header => [name, response.headers.get(name) ?? ""]);
  const others = [...response.headers].filter(([name]) => !names.some((each) => each.toLowerCase() === name));
  return (
    <>
      <p>
        <span class={`status s${String(response.status).charAt(0)}`}>{response.status}</span>{" "}
        {response.statusText}
      </p>
      <Meaning response={response} operation={operation} method={method} />
      <RemainingMeter headers={response.headers} />
      {text !== "" && <Body text={text} of={operation.summary} />}
      <HeaderTable headers={known} />
      {onUseEtag && etag !== null && (
        <p>
          <button type="button" class="button" onClick={() => onUseEtag(etag)}>
            Put this ETag into If-None-Match
          </button>
        </p>
      )}
      <details>
        <summary>{others.length} other headers</summary>
        <HeaderTable headers={others} />
      </details>
    </>
  );
}

type MeaningProps = {
  readonly response: Response;
  readonly operation: OperationObject;
  readonly method: string;
};

/** What a success means, or how long to wait. An error says the rest in its body. */
function Meaning({ response, operation, method }: MeaningProps) {
  const { status } = response;
  const waitSeconds = retryAfterSeconds(response);
  if (waitSeconds > 0) {
    // Without this header, it is the 429 of the per-IP rate limit, which may admit an earlier request.
    const isOfKey = status === 429 && response.headers.has("RateLimit");
    const reason = isOfKey ? ": each earlier request is refused too" : "";
    return (
      <p>
        Wait for {formatDuration(waitSeconds)}
        {reason}.
      </p>
    );
  }
  if (status === 304) {
    return <p>The list is the one with the ETag in If-None-Match. Empty that field to get it again.</p>;
  }
  if (status === 404 && method === "DELETE") {
    return (
      <p>
        If the connection was interrupted, your browser may have sent the request twice, and the first one may
        have had its effect.
      </p>
    );
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
  const until = formatTimeOrDate(Number(headers.get("X-RateLimit-Reset")) * 1000, Date.now());
  return (
    <label class="left">
      {remaining} of {limit} requests left until {until}
      <meter min={0} max={limit} low={limit / 5} optimum={limit} value={Number(remaining)} />
    </label>
  );
}

function Body({ text, of }: { readonly text: string; readonly of: string }) {
  // The panel is drawn again with each character that is typed, and four times a second during a wait.
  const shown = useMemo(() => shownText(text), [text]);
  return (
    <ScrollBox label={`Response: ${of}`} class="body">
      <pre>{shown}</pre>
    </ScrollBox>
  );
}

function shownText(answer: string): string {
  const text = answer.length <= MAX_INDENTED_CHARS ? prettyJson(answer) : answer;
  if (text.length <= MAX_SHOWN_CHARS) return text;
  return `${text.slice(0, MAX_SHOWN_CHARS)}\n… and ${text.length - MAX_SHOWN_CHARS} more characters`;
}
