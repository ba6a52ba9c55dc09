/** Renders the parts of the OpenAPI document as elements. */
import { marked } from "marked";
import { el, slug } from "./dom.ts";
import type {
  OpenApi,
  OperationEntry,
  ParameterObject,
  ResponseObject,
  SchemaObject,
} from "./openapi-model.ts";
import { tryItPanel } from "./try-it.ts";

/** One section for each heading, as a search result. The server addresses come after the text before the first heading. */
export function renderIntroduction(markdown: string, servers: HTMLElement): HTMLElement[] {
  const template = document.createElement("template");
  // The service's own document. The page's Content-Security-Policy forbids scripts in it anyway.
  template.innerHTML = marked.parse(markdown, { async: false });
  const sections = [el("section", {})];
  for (const node of [...template.content.childNodes]) {
    if (node instanceof HTMLHeadingElement) {
      node.id = slug(node.textContent ?? "");
      sections.push(el("section", { "data-search": node.textContent ?? "" }));
    }
    sections.at(-1)?.append(node instanceof HTMLTableElement ? scrollable(node) : node);
  }
  for (const row of sections.flatMap((section) => [
    ...section.querySelectorAll<HTMLTableRowElement>("tbody tr"),
  ])) {
    row.dataset.search = row.cells[0]?.textContent ?? "";
  }
  sections[0]?.append(servers);
  return sections;
}

export function renderServers(openapi: OpenApi): HTMLElement {
  const rows = openapi.servers.map(({ url, description }) =>
    el(
      "tr",
      {},
      el("th", { scope: "row" }, description),
      el("td", {}, el("code", {}, new URL(url, location.origin).href)),
    ),
  );
  return scrollable(el("table", { class: "facts" }, el("tbody", {}, ...rows)));
}

export function renderOperation({ method, path, operation }: OperationEntry): HTMLElement {
  const { operationId, summary, deprecated } = operation;
  return el(
    "section",
    { id: operationId, class: "operation", "data-search": `${summary} (${method} ${path})` },
    el(
      "div",
      { class: "about" },
      el("h3", { class: deprecated ? "deprecated" : undefined }, summary),
      el(
        "p",
        { class: "route" },
        el("span", { class: `method ${method.toLowerCase()}` }, method),
        " ",
        el("code", {}, path),
      ),
      badges(operation),
      markdown(operation.description),
      parameters(operation.parameters),
      el("h4", {}, "Responses"),
      ...Object.entries(operation.responses).map(([status, response]) => renderResponse(status, response)),
    ),
    tryItPanel(method, path, operation),
  );
}

function badges(operation: OperationEntry["operation"]): HTMLElement | undefined {
  const sunset = operation["x-deprecated-sunset"];
  const texts = [
    operation.deprecated ? `deprecated, gone from ${sunset ?? "an unknown date"} on` : undefined,
    operation["x-stability"],
  ].filter((text) => text !== undefined);
  if (texts.length === 0) return undefined;
  return el("p", { class: "badges" }, ...texts.map((text) => el("span", { class: "badge" }, text)));
}

function parameters(list: readonly ParameterObject[]): HTMLElement | undefined {
  if (list.length === 0) return undefined;
  const rows = list.map((parameter) =>
    el(
      "tr",
      {},
      el("th", { scope: "row" }, el("code", {}, parameter.name)),
      el("td", {}, `${parameter.in}, ${typeOf(parameter.schema)}${parameter.required ? ", required" : ""}`),
      el("td", {}, markdown(parameter.description)),
    ),
  );
  return el(
    "div",
    {},
    el("h4", {}, "Parameters"),
    scrollable(el("table", { class: "facts" }, el("tbody", {}, ...rows))),
  );
}

function renderResponse(status: string, response: ResponseObject): HTMLElement {
  const [headline = "", ...more] = response.description.split("\n\n");
  const examples = Object.values(response.content?.["application/json"]?.examples ?? {});
  const kind = /^\d/.test(status) ? `s${status.charAt(0)}` : "s4";
  return el(
    "details",
    { class: "response" },
    el("summary", {}, el("span", { class: `status ${kind}` }, status), " ", inline(headline)),
    more.length === 0 ? undefined : markdown(more.join("\n\n")),
    el(
      "p",
      { class: "names" },
      "Headers: ",
      ...Object.keys(response.headers).flatMap((name) => [
        el("a", { href: `#header-${slug(name)}` }, el("code", {}, name)),
        " ",
      ]),
    ),
    ...examples.map(({ value }) => el("pre", {}, JSON.stringify(value, null, 2))),
  );
}

export function renderHeaders(openapi: OpenApi): HTMLElement[] {
  const rows = Object.entries(openapi.components.headers).map(([name, { description, example }]) =>
    el(
      "tr",
      { id: `header-${slug(name)}`, "data-search": name },
      el("th", { scope: "row" }, el("code", {}, name)),
      el(
        "td",
        {},
        markdown(description),
        example === undefined ? undefined : el("code", { class: "example" }, String(example)),
      ),
    ),
  );
  return [
    el("h2", { id: "response-headers" }, "Response headers"),
    scrollable(el("table", { class: "facts" }, el("tbody", {}, ...rows))),
  ];
}

export function renderSchemas(openapi: OpenApi): HTMLElement[] {
  return Object.entries(openapi.components.schemas).map(([name, schema]) =>
    el(
      "section",
      { "data-search": name },
      el("h2", { id: `schema-${slug(name)}` }, name),
      markdown(schema.description ?? ""),
      scrollable(el("table", { class: "facts" }, el("tbody", {}, ...fields(schema)))),
    ),
  );
}

function fields(schema: SchemaObject): HTMLElement[] {
  return Object.entries(schema.properties ?? {}).map(([name, property]) =>
    el(
      "tr",
      {},
      el("th", { scope: "row" }, el("code", {}, name)),
      el("td", {}, `${typeOf(property)}${schema.required?.includes(name) ? ", required" : ""}`),
      el("td", {}, markdown(property.description ?? "")),
    ),
  );
}

function typeOf({ type, format }: SchemaObject): string {
  return format === undefined ? (type ?? "any") : `${type} (${format})`;
}

function markdown(text: string): HTMLElement {
  const block = el("div", { class: "text" });
  // As above: the service's own document.
  block.innerHTML = marked.parse(text, { async: false });
  return block;
}

function inline(text: string): HTMLElement {
  const span = el("span");
  // As above.
  span.innerHTML = marked.parseInline(text, { async: false });
  return span;
}

/** A table that is wider than the screen scrolls on its own. */
function scrollable(table: HTMLTableElement): HTMLElement {
  return el("div", { class: "scrollable" }, table);
}
