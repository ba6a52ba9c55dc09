/** The documentation page. All its content comes from /openapi.json of the service that serves it (ADR-14). */
import { render } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import { SearchBox } from "../shared/search-box.tsx";
import { Contents } from "./contents.tsx";
import { Introduction, sectionsOf } from "./introduction.tsx";
import { loadDocument, type OpenApi, operationsOf } from "./openapi-model.ts";
import { Operation } from "./operation.tsx";
import { ResponseHeaders, Schemas } from "./reference.tsx";
import { findOnPage } from "./search.ts";

function Documentation() {
  const [openapi, setOpenapi] = useState<OpenApi>();
  const [problem, setProblem] = useState<string>();
  useEffect(() => {
    loadDocument().then(setOpenapi, (thrown: unknown) => setProblem(String(thrown)));
  }, []);
  useEffect(() => {
    // The target of the hash did not exist yet when the browser looked for it.
    if (openapi && location.hash.length > 1)
      document.getElementById(location.hash.slice(1))?.scrollIntoView();
  }, [openapi]);
  return (
    <>
      <header class="bar">
        <a class="brand" href="#top">
          <img src="/docs/icon.svg" alt="" width="24" height="24" /> Store Orders
        </a>
        <SearchBox label="Search the documentation" find={async (query) => findOnPage(query)} />
        <a class="openapi-link" href="/openapi.json">
          OpenAPI
        </a>
      </header>
      {openapi ? (
        <Loaded openapi={openapi} />
      ) : (
        <main id="top">
          <p role="status">
            {problem === undefined ? "Loading…" : `The documentation could not be loaded: ${problem}`}
          </p>
        </main>
      )}
    </>
  );
}

function Loaded({ openapi }: { readonly openapi: OpenApi }) {
  /** All panels share one key. It is only in the memory of this page. */
  const [apiKey, setApiKey] = useState("");
  const { info, servers } = openapi;
  const sections = useMemo(() => sectionsOf(info.description), [info]);
  const operations = useMemo(() => operationsOf(openapi), [openapi]);
  return (
    <div class="columns">
      <Contents sections={sections} operations={operations} openapi={openapi} />
      <main id="top">
        <p class="version">Version {info.version}</p>
        <h1>{info.title}</h1>
        <Introduction sections={sections} servers={servers} />
        <h2 id="operations">Operations</h2>
        {operations.map((entry) => (
          <Operation key={entry.operation.operationId} entry={entry} apiKey={apiKey} onApiKey={setApiKey} />
        ))}
        <ResponseHeaders openapi={openapi} />
        <Schemas openapi={openapi} />
      </main>
    </div>
  );
}

const root = document.getElementById("app");
if (!root) throw new Error("docs.html has no #app");
render(<Documentation />, root);
