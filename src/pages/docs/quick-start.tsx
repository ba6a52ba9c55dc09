/** The first ten minutes of a client: a key, a request, its response, and the wait after a 429. */
import { useState } from "preact/hooks";
import { CopyButton } from "../shared/copy-button.tsx";
import { ScrollBox } from "../shared/scroll-box.tsx";
import { clientGenerators, type ExamplePrograms, listPrograms, waitingPrograms } from "./example-programs.ts";
import { type OpenApi, operationsOf } from "./openapi-model.ts";
import { type Sample, sampleResponse } from "./sample-response.ts";
import { Tabs } from "./tabs.tsx";

/** Where the chosen language is kept. */
const STORED_AS = "store-orders-docs-language";
const DEFAULT_LANGUAGE = "curl";

export function QuickStart({ openapi, baseUrl }: { readonly openapi: OpenApi; readonly baseUrl: string }) {
  const [language, setLanguage] = useStoredLanguage();
  const [generator, setGenerator] = useState("");
  const list = operationsOf(openapi).find(({ operation }) => operation.operationId === "listOrders");
  if (!list) return null;
  const sample = (of: Sample) => sampleResponse(openapi, list.operation, of);
  const code = (label: string, programs: ExamplePrograms) => (
    <Programs label={label} programs={programs} chosen={language} onChoose={setLanguage} />
  );
  return (
    <>
      <h2 id="quick-start">Quick start</h2>
      <section id="get-a-key" data-search="Get a key">
        <h3>1. Get a key</h3>
        <p>
          <WhomToAsk contact={openapi.info.contact} /> A key begins with <code>sok_</code> and is shown once.
          Keep it as you keep a password: not in a program, not in a URL. The programs below read it from the
          environment:
        </p>
        <pre>export KEY=sok_…</pre>
        <p>
          In PowerShell: <code>$env:KEY = "sok_…"</code>, and take JavaScript or Python. The programs for
          curl, and the commands of step 5, need a shell such as bash.
        </p>
      </section>
      <section id="first-request" data-search="Your first request (curl, JavaScript, Python)">
        <h3>2. Send a request</h3>
        <p>
          This lists all orders. JavaScript needs Node 18 or later, Python 3.8 or later, and neither needs a
          package.
        </p>
        {code("The first request", listPrograms(baseUrl))}
        <p>
          Without a terminal, send it from this page: <a href="#try-listOrders">List all orders</a>.
        </p>
      </section>
      <section id="what-comes-back" data-search="What comes back">
        <h3>3. What comes back</h3>
        <ResponseText
          label="The response with the orders"
          text={sample({ status: "200", headers: LIST_HEADERS })}
        />
        <p>
          <code>X-RateLimit-Remaining</code> requests remain until <code>X-RateLimit-Reset</code>, a Unix
          timestamp. <a href="#try-cancelOrder">Cancel an order</a> with its <code>id</code>: the answer is
          204 without a body, or a 409 if the order is not pending any more. The list does not show which
          orders are pending.
        </p>
      </section>
      <section id="wait-after-a-429" data-search="Wait after a 429 (programs)">
        <h3>4. Wait after a 429</h3>
        <p>When the limit is used up, the answer is:</p>
        <ResponseText
          label="The response to a request over the limit"
          text={sample({ status: "429", headers: REFUSED_HEADERS, example: "rate_limit_exceeded" })}
        />
        <p>
          Wait as many seconds as <code>Retry-After</code> says, then send the request again. Every earlier
          one is refused too, and repeated ones get <a href="#bans">the key banned</a>. These programs wait.
          With the id of an order they cancel that order, and without one they list all orders:
        </p>
        {code("Programs that wait", waitingPrograms(baseUrl))}
      </section>
      <section id="generate-a-client" data-search="Generate a client (TypeScript)">
        <h3>5. Generate a client</h3>
        <p>
          These tools generate a client for TypeScript from <code>openapi.json</code>. After a 429, your
          program still has to wait.
        </p>
        <Programs
          label="Generate a client"
          programs={clientGenerators(baseUrl)}
          chosen={generator}
          onChoose={setGenerator}
        />
      </section>
    </>
  );
}

const LIST_HEADERS = {
  "X-RateLimit-Limit": undefined,
  "X-RateLimit-Remaining": undefined,
  "X-RateLimit-Reset": undefined,
  ETag: undefined,
};

const REFUSED_HEADERS = {
  "Retry-After": undefined,
  "X-RateLimit-Limit": undefined,
  "X-RateLimit-Remaining": "0",
  "X-RateLimit-Reset": undefined,
};

function WhomToAsk({ contact }: { readonly contact: OpenApi["info"]["contact"] }) {
  const { email, url } = contact;
  if (email !== undefined) {
    return (
      <>
        Ask <a href={`mailto:${email}`}>{email}</a> for an API key.
      </>
    );
  }
  if (url !== undefined) {
    return (
      <>
        Ask for an API key at <a href={url}>{url}</a>.
      </>
    );
  }
  return <>Ask the operator of this instance, who gave you its address, for an API key.</>;
}

type ProgramsProps = {
  readonly label: string;
  readonly programs: ExamplePrograms;
  readonly chosen: string;
  readonly onChoose: (id: string) => void;
};

function Programs({ label, programs, chosen, onChoose }: ProgramsProps) {
  const tabs = programs.map(({ id, language, text }) => ({
    id,
    name: language,
    content: (
      <>
        <ScrollBox label={`${label}, ${language}`} class="code">
          <pre>{text}</pre>
        </ScrollBox>
        <CopyButton text={`${text}\n`} label={`Copy the program: ${label}, ${language}`} />
      </>
    ),
  }));
  return <Tabs label={`${label}: language`} tabs={tabs} chosen={chosen} onChoose={onChoose} />;
}

function ResponseText({ label, text }: { readonly label: string; readonly text: string }) {
  return (
    <ScrollBox label={label} class="code">
      <pre>{text}</pre>
    </ScrollBox>
  );
}

/** A browser can forbid storage. Then the choice lasts as long as the page. */
function useStoredLanguage(): [string, (language: string) => void] {
  const [language, setLanguage] = useState(() => {
    try {
      return localStorage.getItem(STORED_AS) ?? DEFAULT_LANGUAGE;
    } catch {
      return DEFAULT_LANGUAGE;
    }
  });
  const choose = (next: string) => {
    setLanguage(next);
    try {
      localStorage.setItem(STORED_AS, next);
    } catch {}
  };
  return [language, choose];
}
