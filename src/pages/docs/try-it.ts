/** The panel beside an operation that calls it and shows the response: status, limit, headers, body. */

import { prettyJson } from "../shared/exact-json.ts";
import { el } from "./dom.ts";
import type { OperationObject, ParameterObject } from "./openapi-model.ts";

/** A longer text would make a phone slow. */
const MAX_SHOWN_CHARS = 20_000;

/** All panels share one key. It is only in the memory of this page. */
const keyInputs: HTMLInputElement[] = [];

export function tryItPanel(method: string, path: string, operation: OperationObject): HTMLElement {
  const key = keyInput();
  const documented = Object.values(operation.responses).flatMap(({ headers }) => Object.keys(headers));
  const pathInputs = operation.parameters.filter((each) => each.in === "path").map(pathInput);
  const send = el("button", { type: "submit" }, "Send request");
  const result = el("div", { class: "result", "aria-live": "polite" });
  const address = () =>
    `${location.origin}/v1${pathInputs.reduce(
      (text, { name, input }) => text.replace(`{${name}}`, encodeURIComponent(input.value.trim())),
      path,
    )}`;
  const curl = el("pre", { class: "curl" });
  const form = el(
    "form",
    { class: "try-it", "aria-label": `Try it: ${operation.summary}` },
    el("h4", {}, "Try it"),
    el("label", {}, "API key", key),
    ...pathInputs.map(({ name, input }) => el("label", {}, name, input)),
    curl,
    send,
    result,
  );
  const showCurl = () => {
    curl.textContent = curlFor(method, address());
  };
  const run = async () => {
    send.disabled = true;
    result.replaceChildren(...(await call(method, address(), key.value.trim(), documented)));
    send.disabled = false;
  };
  showCurl();
  form.addEventListener("input", showCurl);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    void run();
  });
  return form;
}

function keyInput(): HTMLInputElement {
  const input = el("input", {
    type: "password",
    placeholder: "sok_…",
    autocomplete: "off",
    spellcheck: "false",
    required: true,
  });
  keyInputs.push(input);
  input.addEventListener("input", () => {
    for (const other of keyInputs) other.value = input.value;
  });
  return input;
}

function pathInput({ name, example }: ParameterObject): { name: string; input: HTMLInputElement } {
  const input = el("input", {
    type: "text",
    inputmode: "numeric",
    autocomplete: "off",
    required: true,
    value: String(example),
  });
  return { name, input };
}

function curlFor(method: string, address: string): string {
  const verb = method === "GET" ? "" : ` -X ${method}`;
  return `curl -i${verb} -H "Authorization: Bearer $KEY" \\\n  ${address}`;
}

/** Never rejects: a failure is shown in place of the response. */
async function call(
  method: string,
  address: string,
  key: string,
  documented: readonly string[],
): Promise<HTMLElement[]> {
  try {
    const headers = { Authorization: `Bearer ${key}` };
    const response = await fetch(address, { method, headers, cache: "no-store", credentials: "omit" });
    return show(response, await response.text(), documented);
  } catch (problem) {
    return [el("p", { class: "problem" }, `No answer: ${String(problem)}`)];
  }
}

/** Shows the headers that the operation documents, and the other ones in a collapsed list. */
function show(response: Response, text: string, documented: readonly string[]): HTMLElement[] {
  const names = [...new Set(documented)].filter((name) => response.headers.has(name));
  const known = names.map((name): Header => [name, response.headers.get(name) ?? ""]);
  const others = [...response.headers].filter(([name]) => !names.some((each) => each.toLowerCase() === name));
  return [
    el(
      "p",
      {},
      el("span", { class: `status s${String(response.status).charAt(0)}` }, String(response.status)),
      ` ${response.statusText}`,
    ),
    ...meter(response.headers),
    headerTable(known),
    ...(text === "" ? [] : [el("pre", { class: "body" }, shortened(prettyJson(text)))]),
    el("details", {}, el("summary", {}, `${others.length} other headers`), headerTable(others)),
  ];
}

type Header = readonly [name: string, value: string];

function headerTable(headers: readonly Header[]): HTMLElement {
  const rows = headers.map(([name, value]) =>
    el("tr", {}, el("th", { scope: "row" }, name), el("td", {}, value)),
  );
  return el("table", {}, el("tbody", {}, ...rows));
}

/** The remaining part of the window, as a bar. */
function meter(headers: Headers): HTMLElement[] {
  const limit = Number(headers.get("X-RateLimit-Limit"));
  const remaining = headers.get("X-RateLimit-Remaining");
  if (limit === 0 || remaining === null) return [];
  const until = new Date(Number(headers.get("X-RateLimit-Reset")) * 1000).toLocaleTimeString();
  return [
    el(
      "label",
      { class: "left" },
      `${remaining} of ${limit} requests left until ${until}`,
      el("meter", {
        min: "0",
        max: String(limit),
        low: String(limit / 5),
        optimum: String(limit),
        value: remaining,
      }),
    ),
  ];
}

function shortened(text: string): string {
  if (text.length <= MAX_SHOWN_CHARS) return text;
  return `${text.slice(0, MAX_SHOWN_CHARS)}\n… and ${text.length - MAX_SHOWN_CHARS} more characters`;
}
