/** The panel beside an operation that calls it and shows the response. */
import { useState } from "preact/hooks";
import { CopyButton } from "../shared/copy-button.tsx";
import { type Answer, AnswerView } from "./answer-view.tsx";
import type { OperationEntry } from "./openapi-model.ts";

type Props = {
  readonly entry: OperationEntry;
  readonly apiKey: string;
  readonly onApiKey: (key: string) => void;
};

export function TryIt({ entry: { method, path, operation }, apiKey, onApiKey }: Props) {
  const pathParameters = operation.parameters.filter((each) => each.in === "path");
  const [values, setValues] = useState<Readonly<Record<string, string>>>(() =>
    Object.fromEntries(pathParameters.map(({ name, example }) => [name, String(example)])),
  );
  const [answer, setAnswer] = useState<Answer>();
  const [isSending, setIsSending] = useState(false);
  const documented = Object.values(operation.responses).flatMap(({ headers }) => Object.keys(headers));
  const address = addressOf(path, values);
  const curl = curlFor(method, address);
  const send = async () => {
    setIsSending(true);
    setAnswer(await call(method, address, apiKey.trim()));
    setIsSending(false);
  };
  return (
    <form
      class="try-it"
      aria-label={`Try it: ${operation.summary}`}
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
    >
      <h4>Try it</h4>
      <label>
        API key
        <input
          type="password"
          placeholder="sok_…"
          autocomplete="off"
          spellcheck={false}
          required
          value={apiKey}
          onInput={(event) => onApiKey(event.currentTarget.value)}
        />
      </label>
      {pathParameters.map(({ name }) => (
        <label key={name}>
          {name}
          <input
            type="text"
            inputMode="numeric"
            autocomplete="off"
            required
            value={values[name] ?? ""}
            onInput={(event) => setValues({ ...values, [name]: event.currentTarget.value })}
          />
        </label>
      ))}
      <pre class="curl">{curl}</pre>
      <p class="copy-curl">
        <CopyButton text={curl} label="Copy the curl command" />
      </p>
      <button type="submit" class="button primary" disabled={isSending}>
        Send request
      </button>
      <div class="result" aria-live="polite">
        {answer && <AnswerView answer={answer} documented={documented} />}
      </div>
    </form>
  );
}

function addressOf(path: string, values: Readonly<Record<string, string>>): string {
  const filled = Object.entries(values).reduce(
    (text, [name, value]) => text.replace(`{${name}}`, encodeURIComponent(value.trim())),
    path,
  );
  return `${location.origin}/v1${filled}`;
}

function curlFor(method: string, address: string): string {
  const verb = method === "GET" ? "" : ` -X ${method}`;
  return `curl -i${verb} -H "Authorization: Bearer $KEY" \\\n  ${address}`;
}

/** Never rejects: a failure is shown in place of the response. */
async function call(method: string, address: string, key: string): Promise<Answer> {
  try {
    const headers = { Authorization: `Bearer ${key}` };
    const response = await fetch(address, { method, headers, cache: "no-store", credentials: "omit" });
    return { response, text: await response.text() };
  } catch (thrown) {
    return { problem: String(thrown) };
  }
}
