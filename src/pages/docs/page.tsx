/** The documentation page. Its reference comes from /openapi.json of the service that serves it (ADR-14). */
import { render } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import { SearchBox, type SearchResult } from "../shared/search-box.tsx";
import { Contents, placesOf } from "./contents.tsx";
import { Lead, parseIntroduction, Sections, Servers } from "./introduction.tsx";
import { loadDocument, type OpenApi, operationsOf } from "./openapi-model.ts";
import { Operation } from "./operation.tsx";
import { QuickStart } from "./quick-start.tsx";
import { ResponseHeaders, Schemas } from "./reference.tsx";
import { searchOfPage } from "./search.ts";
import { useSession } from "./session.ts";

/** The one that this page is served from: its policy allows requests to no other. */
const BASE_URL = `${location.origin}/v1`;

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
      <a class="skip button" href="#top">
        Skip to the content
      </a>
      <header class="bar">
        <a class="brand" href="#top">
          <img src="/docs/icon.svg" alt="" width="24" height="24" /> <span>Store Orders</span>
        </a>
        {openapi && <Search />}
      </header>
      {openapi ? (
        <Loaded openapi={openapi} />
      ) : (
        <main id="top" tabIndex={-1}>
          <p role="status" translate={false}>
            {problem === undefined ? "Loading…" : `The documentation could not be loaded: ${problem}`}
          </p>
        </main>
      )}
    </>
  );
}

/** The index is built at the first search. */
function Search() {
  const [search, setSearch] = useState<(query: string) => SearchResult[]>();
  const find = async (query: string) => {
    const current = search ?? searchOfPage();
    if (!search) setSearch(() => current);
    return current(query);
  };
  return <SearchBox label="Search the documentation" find={find} />;
}

function Loaded({ openapi }: { readonly openapi: OpenApi }) {
  const session = useSession();
  const { info, servers } = openapi;
  const { lead, sections } = useMemo(() => parseIntroduction(info.description), [info]);
  const operations = useMemo(() => operationsOf(openapi), [openapi]);
  const places = useMemo(() => placesOf(sections, operations, openapi), [sections, operations, openapi]);
  return (
    <div class="columns">
      <Contents places={places} />
      <main id="top" tabIndex={-1}>
        <p id="openapi-document" class="version" data-search="OpenAPI document (openapi.json)">
          Version {info.version} · OpenAPI 3.1: <a href="/openapi.json">openapi.json</a>
        </p>
        <h1>{info.title}</h1>
        <Lead blocks={lead} />
        <Servers servers={servers} />
        <QuickStart openapi={openapi} baseUrl={BASE_URL} />
        <Sections sections={sections} />
        <h2 id="operations">Operations</h2>
        {operations.map((entry) => (
          <Operation key={entry.operation.operationId} entry={entry} baseUrl={BASE_URL} session={session} />
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
