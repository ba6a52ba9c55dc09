/** Full-text search in the entries of the page, with MiniSearch (ADR-25). Pure. */
import MiniSearch from "minisearch";

export type Entry = { readonly id: string; readonly title: string; readonly text: string };

export type Match = { readonly id: string; readonly title: string; readonly snippet: string };

const MAX_RESULTS = 8;
/** Each word is compared with all words of the page: a text of thousands of characters takes seconds. */
const MAX_QUERY_CHARS = 200;
const SNIPPET_CHARS = 90;
const CHARS_BEFORE_MATCH = 30;

const SEARCH = {
  boost: { title: 4, keywords: 4 },
  // The last word may be unfinished, so each word is a prefix.
  prefix: (word: string) => word.length > 1,
  // One typo in four letters. A status code or a limit with another digit is another thing.
  fuzzy: (word: string) => (word.length > 3 && !/\d/.test(word) ? 0.25 : false),
  maxFuzzy: 2,
};

/** `keywords` has, by the id of an entry, the words that people type and the text of the entry does not have. */
export function createSearch(
  entries: readonly Entry[],
  keywords: Readonly<Record<string, string>>,
): (query: string) => Match[] {
  const index = new MiniSearch<Entry & { keywords: string }>({
    fields: ["title", "keywords", "text"],
    searchOptions: SEARCH,
  });
  const byId = new Map(entries.map((entry) => [entry.id, entry]));
  index.addAll([...byId.values()].map((entry) => ({ ...entry, keywords: keywords[entry.id] ?? "" })));
  return (text) => {
    const query = text.slice(0, MAX_QUERY_CHARS);
    const boostDocument = (id: string) => phraseBoost(byId.get(id), query);
    const all = index.search(query, { combineWith: "AND", boostDocument });
    const found = all.length > 0 ? all : index.search(query, { combineWith: "OR", boostDocument });
    return found.slice(0, MAX_RESULTS).flatMap(({ id, terms }) => {
      const entry = byId.get(id);
      return entry ? [{ id, title: entry.title, snippet: snippetOf(entry.text, terms) }] : [];
    });
  };
}

/** The index has words without their order. */
function phraseBoost(entry: Entry | undefined, query: string): number {
  const phrase = query.trim().toLowerCase();
  if (entry?.title.toLowerCase().startsWith(phrase)) return 3;
  return entry?.text.toLowerCase().includes(phrase) ? 1.5 : 1;
}

/** The text around the first of the words, or its beginning. */
function snippetOf(text: string, words: readonly string[]): string {
  const lower = text.toLowerCase();
  const places = words.map((word) => lower.indexOf(word)).filter((place) => place >= 0);
  const wanted = Math.max(0, Math.min(...places, text.length) - CHARS_BEFORE_MATCH);
  const start = places.length === 0 ? 0 : wanted;
  const end = start + SNIPPET_CHARS;
  return `${start > 0 ? "…" : ""}${text.slice(start, end)}${end < text.length ? "…" : ""}`;
}
