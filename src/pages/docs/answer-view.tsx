/** A response of the service: status, limit, headers, body. */
import { prettyJson } from "../shared/exact-json.ts";

/** A longer text would make a phone slow. */
const MAX_SHOWN_CHARS = 20_000;

export type Answer = { readonly response: Response; readonly text: string } | { readonly problem: string };

type Props = { readonly answer: Answer; readonly documented: readonly string[] };

/** Shows the headers that the operation documents, and the other ones in a collapsed list. */
export function AnswerView({ answer, documented }: Props) {
  if ("problem" in answer) return <p class="problem">No answer: {answer.problem}</p>;
  const { response, text } = answer;
  const names = [...new Set(documented)].filter((name) => response.headers.has(name));
  const known = names.map((name): Header => [name, response.headers.get(name) ?? ""]);
  const others = [...response.headers].filter(([name]) => !names.some((each) => each.toLowerCase() === name));
  return (
    <>
      <p>
        <span class={`status s${String(response.status).charAt(0)}`}>{response.status}</span>{" "}
        {response.statusText}
      </p>
      <RemainingMeter headers={response.headers} />
      <HeaderTable headers={known} />
      {text !== "" && <Body text={text} />}
      <details>
        <summary>{others.length} other headers</summary>
        <HeaderTable headers={others} />
      </details>
    </>
  );
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

function Body({ text }: { readonly text: string }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so the keyboard must reach it.
    <pre class="body" tabIndex={0}>
      {shortened(prettyJson(text))}
    </pre>
  );
}

function shortened(text: string): string {
  if (text.length <= MAX_SHOWN_CHARS) return text;
  return `${text.slice(0, MAX_SHOWN_CHARS)}\n… and ${text.length - MAX_SHOWN_CHARS} more characters`;
}
