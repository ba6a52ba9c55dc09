/** The documentation page. All its content comes from /openapi.json of the service that serves it (ADR-14). */
import { byId, el } from "./dom.ts";
import { loadDocument, type OpenApi, operationsOf } from "./openapi-model.ts";
import {
  renderHeaders,
  renderIntroduction,
  renderOperation,
  renderSchemas,
  renderServers,
} from "./render.ts";
import { enableSearch } from "./search.ts";

function show(openapi: OpenApi): void {
  byId("top").replaceChildren(
    el("p", { class: "version" }, `Version ${openapi.info.version}`),
    el("h1", {}, openapi.info.title),
    ...renderIntroduction(openapi.info.description, renderServers(openapi)),
    el("h2", { id: "operations" }, "Operations"),
    ...operationsOf(openapi).map(renderOperation),
    ...renderHeaders(openapi),
    ...renderSchemas(openapi),
  );
  byId("contents").replaceChildren(contents(openapi));
  enableSearch();
  followHash();
}

function contents(openapi: OpenApi): HTMLElement {
  const headings = [...document.querySelectorAll<HTMLElement>("main > section > h2, main > h2")];
  const operations = operationsOf(openapi).map(({ method, operation }) =>
    el(
      "li",
      {},
      el(
        "a",
        { href: `#${operation.operationId}`, class: operation.deprecated ? "deprecated" : undefined },
        el("span", { class: `method ${method.toLowerCase()}` }, method === "DELETE" ? "DEL" : method),
        ` ${operation.summary}`,
      ),
    ),
  );
  return el(
    "ul",
    {},
    ...headings.map((heading) =>
      el(
        "li",
        {},
        el("a", { href: `#${heading.id}` }, heading.textContent ?? ""),
        heading.id === "operations" ? el("ul", {}, ...operations) : undefined,
      ),
    ),
  );
}

/** The target of the hash did not exist yet when the browser looked for it. */
function followHash(): void {
  if (location.hash.length > 1) document.getElementById(location.hash.slice(1))?.scrollIntoView();
}

loadDocument().then(show, (problem: unknown) => {
  byId("status").textContent = `The documentation could not be loaded: ${String(problem)}`;
});
