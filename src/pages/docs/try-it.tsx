/** The panel beside an operation that calls it and shows the response. */
import type { RefObject } from "preact";
import { useRef, useState } from "preact/hooks";
import { CopyButton } from "../shared/copy-button.tsx";
import { formatDuration } from "../shared/format.ts";
import { ScrollBox } from "../shared/scroll-box.tsx";
import { type Answer, AnswerView, retryAfterSeconds } from "./answer-view.tsx";
import { ConfirmDialog } from "./confirm-dialog.tsx";
import { checkKey } from "./key-check.ts";
import { KeyField } from "./key-field.tsx";
import type { OperationEntry, ParameterObject } from "./openapi-model.ts";
import { ParameterField } from "./parameter-field.tsx";
import { curlOf, type DocsRequest, type Fields, requestOf } from "./request.ts";
import type { Session } from "./session.ts";

type Props = {
  readonly entry: OperationEntry;
  readonly baseUrl: string;
  readonly session: Session;
};

/** The header whose value is the `ETag` of an earlier response. */
const CONDITION = "If-None-Match";

/** The longest wait for a limit per minute. A request before its end is a strike. */
const MINUTE_SECONDS = 60;

export function TryIt({ entry: { method, path, operation }, baseUrl, session }: Props) {
  const [fields, setFields] = useState<Fields>({});
  const [answer, setAnswer] = useState<Answer>();
  const [isSending, setIsSending] = useState(false);
  const [keyProblem, setKeyProblem] = useState<string>();
  const [toConfirm, setToConfirm] = useState<DocsRequest>();
  const keyInput = useRef<HTMLInputElement>(null);
  const sendButton = useRef<HTMLButtonElement>(null);

  const valuesOf = (place: ParameterObject["in"]): Fields =>
    Object.fromEntries(
      operation.parameters.filter((each) => each.in === place).map(({ name }) => [name, fields[name] ?? ""]),
    );
  const template = { method, path, pathFields: valuesOf("path"), headerFields: valuesOf("header") };
  const curl = curlOf(template, baseUrl);

  const mayNotSend = isSending || session.waitSeconds > 0;
  const send = async (request: DocsRequest) => {
    const checked = checkKey(session.apiKey);
    // Another panel can have been answered 429 while this request was to be confirmed.
    if (mayNotSend || !("key" in checked)) return;
    setIsSending(true);
    setAnswer(undefined);
    const received = await call(request, checked.key);
    setAnswer(received);
    setIsSending(false);
    const seconds = "response" in received ? retryAfterSeconds(received.response) : 0;
    if (seconds > 0) session.startWait(checked.key, seconds);
  };
  // Not by itself: a second request would then get 304 instead of the list.
  const isConditional = operation.parameters.some(({ name }) => name === CONDITION);
  const useEtag = (etag: string) => {
    setFields((now) => ({ ...now, [CONDITION]: etag }));
    sendButton.current?.focus();
  };
  const onSubmit = (event: SubmitEvent) => {
    event.preventDefault();
    if (mayNotSend) return;
    const checked = checkKey(session.apiKey);
    setKeyProblem("problem" in checked ? checked.problem : undefined);
    if ("problem" in checked) {
      setAnswer(undefined);
      return keyInput.current?.focus();
    }
    const request = requestOf(template, baseUrl);
    if (method === "GET") void send(request);
    else setToConfirm(request);
  };
  return (
    <form
      id={`try-${operation.operationId}`}
      class="try-it"
      // A browser that translates the page would keep the texts of before, such as a countdown.
      translate={false}
      aria-label={`Try it: ${operation.summary}`}
      onSubmit={onSubmit}
    >
      <h4>Try it</h4>
      <KeyField
        value={session.apiKey}
        onValue={(text) => {
          setKeyProblem(undefined);
          session.setApiKey(text);
        }}
        problem={keyProblem}
        input={keyInput}
      />
      {operation.parameters.map((parameter) => (
        <ParameterField
          key={parameter.name}
          parameter={parameter}
          value={fields[parameter.name] ?? ""}
          onValue={(value) => setFields({ ...fields, [parameter.name]: value })}
        />
      ))}
      <ScrollBox label={`curl: ${operation.summary}`} class="code">
        <pre>{curl}</pre>
      </ScrollBox>
      <p class="copy-curl">
        <CopyButton text={curl} label="Copy the curl command" />
      </p>
      <SendButton
        method={method}
        isSending={isSending}
        waitSeconds={session.waitSeconds}
        button={sendButton}
      />
      {toConfirm && (
        <ConfirmDialog
          summary={operation.summary}
          request={toConfirm}
          onClose={(isConfirmed) => {
            setToConfirm(undefined);
            if (isConfirmed) void send(toConfirm);
          }}
        />
      )}
      <p class="sr-only" role="status">
        {isSending ? "Sending" : answer && summaryOf(answer)}
      </p>
      <div class="result">
        {isSending && <p>Sending…</p>}
        {answer && (
          <AnswerView
            answer={answer}
            operation={operation}
            method={method}
            onUseEtag={isConditional ? useEtag : undefined}
          />
        )}
      </div>
    </form>
  );
}

type SendProps = {
  readonly method: string;
  readonly isSending: boolean;
  readonly waitSeconds: number;
  readonly button: RefObject<HTMLButtonElement | null>;
};

/** Stays focusable while it cannot be used, so that the keyboard does not lose its place. */
function SendButton({ method, isSending, waitSeconds, button }: SendProps) {
  const isDangerous = method !== "GET";
  return (
    <>
      <button
        ref={button}
        type="submit"
        class={isDangerous ? "button danger primary" : "button primary"}
        aria-disabled={isSending || waitSeconds > 0}
      >
        {isDangerous ? `Send ${method}…` : "Send request"}
      </button>
      {waitSeconds > 0 && (
        // Not announced each second: the answer says how long to wait.
        <p class="wait" role="timer" aria-live="off">
          Try again in {formatDuration(waitSeconds)}
        </p>
      )}
      {waitSeconds > MINUTE_SECONDS && (
        <p>If the ban was lifted or the limit raised, enter the API key again: that ends the wait.</p>
      )}
    </>
  );
}

/** What a screen reader announces. The body can be long. */
function summaryOf(answer: Answer): string {
  if ("problem" in answer) return `No answer: ${answer.problem}`;
  const { status, statusText } = answer.response;
  const seconds = retryAfterSeconds(answer.response);
  const wait = seconds > 0 ? `, wait for ${formatDuration(seconds)}` : "";
  return `Response: ${status} ${statusText}${wait}`;
}

/** Never rejects: a failure is shown in place of the response. */
async function call({ method, url, headers }: DocsRequest, key: string): Promise<Answer> {
  try {
    const response = await fetch(url, {
      method,
      headers: { ...headers, Authorization: `Bearer ${key}` },
      cache: "no-store",
      credentials: "omit",
    });
    return { response, text: await response.text() };
  } catch (thrown) {
    return { problem: String(thrown) };
  }
}
