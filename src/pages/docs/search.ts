/** Searches everything on the page that has a `data-search` title: sections, operations, error codes, headers, schemas. */
import { byId, el } from "./dom.ts";

const MAX_RESULTS = 8;
const SNIPPET_CHARS = 90;

type SearchEntry = { readonly title: string; readonly text: string; readonly element: HTMLElement };

export function enableSearch(): void {
  const input = byId("search");
  const results = byId("results");
  if (!(input instanceof HTMLInputElement)) return;
  const entries = [...document.querySelectorAll<HTMLElement>("[data-search]")].map(toEntry);

  const close = () => {
    results.hidden = true;
  };
  const update = () => {
    const query = input.value.trim();
    const found = query === "" ? [] : find(entries, query);
    results.replaceChildren(...(found.length === 0 ? [el("li", {}, "Nothing found")] : found.map(toItem)));
    results.hidden = query === "";
  };
  const toItem = (entry: SearchEntry) => {
    const button = el(
      "button",
      { type: "button" },
      el("strong", {}, entry.title),
      el("span", {}, snippet(entry.text, input.value.trim())),
    );
    button.addEventListener("click", () => {
      close();
      goTo(entry.element);
    });
    return el("li", {}, button);
  };
  input.addEventListener("input", update);
  input.addEventListener("focus", update);
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") close();
    if (event.key === "Enter" && event.target === input) results.querySelector("button")?.click();
    if (event.key === "/" && !(event.target instanceof HTMLInputElement)) {
      event.preventDefault();
      input.focus();
    }
  });
  document.addEventListener("click", (event) => {
    if (event.target instanceof Element && !event.target.closest(".search")) close();
  });
}

function toEntry(element: HTMLElement): SearchEntry {
  const copy = element.cloneNode(true);
  if (copy instanceof HTMLElement) for (const form of copy.querySelectorAll("form")) form.remove();
  return {
    title: element.dataset.search ?? "",
    text: (copy.textContent ?? "").replace(/\s+/g, " ").trim(),
    element,
  };
}

/** Every word must occur. Titles that begin with the query come first, then titles with its words, then shorter texts. */
function find(entries: readonly SearchEntry[], query: string): SearchEntry[] {
  const words = query.toLowerCase().split(/\s+/);
  const has = (text: string) => words.every((word) => text.toLowerCase().includes(word));
  const rank = (title: string) =>
    Number(title.toLowerCase().startsWith(query.toLowerCase())) + Number(has(title));
  return entries
    .filter(({ title, text }) => has(`${title} ${text}`))
    .sort((a, b) => rank(b.title) - rank(a.title) || a.text.length - b.text.length)
    .slice(0, MAX_RESULTS);
}

function snippet(text: string, query: string): string {
  const [word = ""] = query.toLowerCase().split(/\s+/);
  const start = Math.max(0, text.toLowerCase().indexOf(word) - 30);
  return `${start > 0 ? "…" : ""}${text.slice(start, start + SNIPPET_CHARS)}…`;
}

function goTo(element: HTMLElement): void {
  // The keyboard focus moves too, so that a keyboard user continues from there.
  element.tabIndex = -1;
  element.focus({ preventScroll: true });
  element.scrollIntoView({ block: element.matches("section") ? "start" : "center" });
  element.classList.remove("found");
  // Reading a size makes the browser notice the removal, so that the highlight plays again.
  void element.offsetWidth;
  element.classList.add("found");
}
