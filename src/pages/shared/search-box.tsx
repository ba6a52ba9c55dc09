/** A search field with a list of results below it. The key `/` leads to it, Enter to the first result. */
import { useEffect, useId, useRef, useState } from "preact/hooks";

export type SearchResult = {
  readonly key: string;
  readonly title: string;
  readonly text: string;
  readonly go: () => void;
};

type Props = {
  readonly label: string;
  /** The results, or a text that says why there are none. */
  readonly find: (query: string) => Promise<readonly SearchResult[] | string>;
  /** How long nothing is typed before `find` is called. */
  readonly pauseMs?: number;
};

export function SearchBox({ label, find, pauseMs = 0 }: Props) {
  const [query, setQuery] = useState("");
  const [results, setResults] = useState<readonly SearchResult[] | string>();
  const box = useRef<HTMLElement>(null);
  const input = useRef<HTMLInputElement>(null);
  const resultsId = useId();
  /** Answers can arrive in another order than their questions. */
  const latest = useRef("");

  const search = async (text: string) => {
    setQuery(text);
    latest.current = text;
    if (text.trim() === "") return setResults(undefined);
    if (pauseMs > 0) await new Promise((done) => setTimeout(done, pauseMs));
    if (latest.current !== text) return;
    const found = await find(text.trim());
    if (latest.current === text) setResults(found);
  };
  const go = (result: SearchResult | undefined) => {
    if (!result) return;
    latest.current = "";
    setResults(undefined);
    result.go();
  };
  const goToFirst = async () => {
    if (query.trim() === "") return;
    const found = await find(query.trim());
    if (typeof found === "string" || found.length === 0) setResults(found);
    else go(found[0]);
  };
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key === "Escape") setResults(undefined);
      if (event.key === "/" && !isTyping(event.target)) {
        event.preventDefault();
        input.current?.focus();
      }
    };
    const onClick = (event: MouseEvent) => {
      if (event.target instanceof Node && !box.current?.contains(event.target)) setResults(undefined);
    };
    document.addEventListener("keydown", onKey);
    document.addEventListener("click", onClick);
    return () => {
      document.removeEventListener("keydown", onKey);
      document.removeEventListener("click", onClick);
    };
  }, []);
  return (
    <search class="search" ref={box}>
      <input
        ref={input}
        type="search"
        placeholder="Search"
        aria-label={label}
        aria-controls={resultsId}
        autocomplete="off"
        spellcheck={false}
        value={query}
        onInput={(event) => void search(event.currentTarget.value)}
        onFocus={(event) => void search(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === "Enter") void goToFirst();
        }}
      />
      <ul id={resultsId} class="results" hidden={results === undefined} aria-live="polite">
        {results !== undefined && <Results results={results} onGo={go} />}
      </ul>
    </search>
  );
}

type ResultsProps = {
  readonly results: readonly SearchResult[] | string;
  readonly onGo: (result: SearchResult) => void;
};

function Results({ results, onGo }: ResultsProps) {
  if (typeof results === "string") return <li>{results}</li>;
  if (results.length === 0) return <li>Nothing found</li>;
  return results.map((result) => (
    <li key={result.key}>
      <button type="button" onClick={() => onGo(result)}>
        <strong>{result.title}</strong>
        <span>{result.text}</span>
      </button>
    </li>
  ));
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLInputElement || target instanceof HTMLSelectElement;
}
