/** Searches everything on the page that has a `data-search` title: sections, operations, error codes, headers, schemas. */
import type { SearchResult } from "../shared/search-box.tsx";
import { createSearch, type Entry } from "./search-index.ts";
import { SEARCH_KEYWORDS } from "./search-keywords.ts";

/** Reads the page once: its text does not change after it has been shown. */
export function searchOfPage(): (query: string) => SearchResult[] {
  const elements = [...document.querySelectorAll<HTMLElement>("[data-search]")];
  const search = createSearch(elements.map(toEntry), SEARCH_KEYWORDS);
  return (query) =>
    search(query).map(({ id, title, snippet }) => ({ key: id, title, text: snippet, go: () => goTo(id) }));
}

/** Without its headings, programs and panels, and without the entries inside it. */
function toEntry(element: HTMLElement): Entry {
  const copy = element.cloneNode(true);
  if (copy instanceof HTMLElement) {
    for (const part of copy.querySelectorAll("h2, h3, form, pre, button, [data-search]")) part.remove();
    // Cells and blocks have no blanks between them.
    for (const block of copy.querySelectorAll("td, th, div, p, li, h4")) block.append(" ");
  }
  return {
    id: element.id,
    title: element.dataset.search ?? "",
    text: (copy.textContent ?? "").replace(/\s+/g, " ").trim(),
  };
}

function goTo(id: string): void {
  const element = document.getElementById(id);
  if (!element) return;
  location.hash = id;
  // The keyboard focus moves too, so that a keyboard user continues from there.
  element.tabIndex = -1;
  element.focus({ preventScroll: true });
  element.scrollIntoView({ block: element.matches("section") ? "start" : "center" });
  element.classList.remove("found");
  // Reading a size makes the browser notice the removal, so that the highlight plays again.
  void element.offsetWidth;
  element.classList.add("found");
}
