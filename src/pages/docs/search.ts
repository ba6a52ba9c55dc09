/** Searches everything on the page that has a `data-search` title: sections, operations, error codes, headers, schemas. */
import type { SearchResult } from "../shared/search-box.tsx";

const MAX_RESULTS = 8;
const SNIPPET_CHARS = 90;

type SearchEntry = { readonly title: string; readonly text: string; readonly element: HTMLElement };

/** Every word must occur. Titles that begin with the query come first, then titles with its words, then shorter texts. */
export function findOnPage(query: string): SearchResult[] {
  const words = query.toLowerCase().split(/\s+/);
  const has = (text: string) => words.every((word) => text.toLowerCase().includes(word));
  const rank = (title: string) =>
    Number(title.toLowerCase().startsWith(query.toLowerCase())) + Number(has(title));
  return [...document.querySelectorAll<HTMLElement>("[data-search]")]
    .map(toEntry)
    .filter(({ title, text }) => has(`${title} ${text}`))
    .sort((a, b) => rank(b.title) - rank(a.title) || a.text.length - b.text.length)
    .slice(0, MAX_RESULTS)
    .map(({ title, text, element }) => ({
      key: `${title} ${text}`,
      title,
      text: snippet(text, query),
      go: () => goTo(element),
    }));
}

function toEntry(element: HTMLElement): SearchEntry {
  const copy = element.cloneNode(true);
  if (copy instanceof HTMLElement) {
    for (const form of copy.querySelectorAll("form")) form.remove();
    // Cells and blocks have no blanks between them.
    for (const block of copy.querySelectorAll("td, th, div, p, h2, h3, h4")) block.append(" ");
  }
  return {
    title: element.dataset.search ?? "",
    text: (copy.textContent ?? "").replace(/\s+/g, " ").trim(),
    element,
  };
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
