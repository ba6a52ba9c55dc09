/** Search over everything on the page that has a `data-search` title: sections, operations, error codes, headers, schemas. */
import { byId, el } from "./dom.ts";

const MOST_RESULTS = 8;
const SNIPPET_LENGTH = 90;

type Place = { readonly title: string; readonly text: string; readonly element: HTMLElement };

export function enableSearch(): void {
  const input = byId("search");
  const results = byId("results");
  if (!(input instanceof HTMLInputElement)) return;
  const places = [...document.querySelectorAll<HTMLElement>("[data-search]")].map(toPlace);

  const close = () => {
    results.hidden = true;
  };
  const update = () => {
    const query = input.value.trim();
    const found = query === "" ? [] : find(places, query);
    results.replaceChildren(...(found.length === 0 ? [el("li", {}, "Nothing found")] : found.map(toItem)));
    results.hidden = query === "";
  };
  const toItem = (place: Place) => {
    const button = el(
      "button",
      { type: "button" },
      el("strong", {}, place.title),
      el("span", {}, snippet(place.text, input.value.trim())),
    );
    button.addEventListener("click", () => {
      close();
      lead(place.element);
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

function toPlace(element: HTMLElement): Place {
  const copy = element.cloneNode(true);
  if (copy instanceof HTMLElement) for (const form of copy.querySelectorAll("form")) form.remove();
  return {
    title: element.dataset.search ?? "",
    text: (copy.textContent ?? "").replace(/\s+/g, " ").trim(),
    element,
  };
}

/** Every word must occur. First come titles that begin with the query, then those that have its words; of two the shorter. */
function find(places: readonly Place[], query: string): Place[] {
  const words = query.toLowerCase().split(/\s+/);
  const has = (text: string) => words.every((word) => text.toLowerCase().includes(word));
  const rank = (title: string) =>
    Number(title.toLowerCase().startsWith(query.toLowerCase())) + Number(has(title));
  return places
    .filter(({ title, text }) => has(`${title} ${text}`))
    .sort((a, b) => rank(b.title) - rank(a.title) || a.text.length - b.text.length)
    .slice(0, MOST_RESULTS);
}

function snippet(text: string, query: string): string {
  const [word = ""] = query.toLowerCase().split(/\s+/);
  const start = Math.max(0, text.toLowerCase().indexOf(word) - 30);
  return `${start > 0 ? "…" : ""}${text.slice(start, start + SNIPPET_LENGTH)}…`;
}

function lead(element: HTMLElement): void {
  // Not only in sight: who goes on with the keyboard goes on from there.
  element.tabIndex = -1;
  element.focus({ preventScroll: true });
  element.scrollIntoView({ block: element.matches("section") ? "start" : "center" });
  element.classList.remove("found");
  // Reading a size makes the browser notice the removal, so that the highlight plays again.
  void element.offsetWidth;
  element.classList.add("found");
}
