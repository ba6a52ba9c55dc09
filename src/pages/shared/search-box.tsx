/**
 * A search field with a list of results below it: a combobox with a listbox, as in the ARIA Authoring Practices. The key
 * `/` leads to it, the arrow keys to a result, Enter to the chosen result or to the first one.
 */
import { useEffect, useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { useLatest } from "./use-latest.ts";

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
  /** The address of the page that is shown. An answer to Enter does not lead away from another one. */
  readonly place?: string;
  /** What must not stay readable in the field once it has led to a result. */
  readonly isSecret?: (query: string) => boolean;
};

export function SearchBox({ label, find, pauseMs = 0, place, isSecret = () => false }: Props) {
  const box = useRef<HTMLElement>(null);
  const input = useRef<HTMLInputElement>(null);
  const { query, results, search, close, first } = useSearch(find, pauseMs, place);
  const [active, setActive] = useState(-1);
  // What was chosen was one of the results before.
  useLayoutEffect(() => setActive(-1), [results]);
  const listId = useId();
  const found = typeof results === "string" ? [] : (results ?? []);
  const isOpen = found.length > 0;

  const type = (text: string) => {
    setActive(-1);
    void search(text);
  };
  const go = (result: SearchResult | undefined) => {
    if (!result) return;
    if (isSecret(query)) type("");
    else close();
    result.go();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    // Such a key is for the input method: its Enter takes over a word.
    if (event.isComposing) return;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === "Enter") {
      const chosen = found[active];
      if (chosen) go(chosen);
      else void first().then(go);
    } else if (event.key === "Escape" && results !== undefined) {
      // Otherwise the browser empties the field.
      event.preventDefault();
      close();
    } else if (step !== undefined && isOpen) {
      event.preventDefault();
      // From the field (-1) down to the first result and up to the last one.
      setActive((now) =>
        now < 0 && step < 0 ? found.length - 1 : (now + step + found.length) % found.length,
      );
    }
  };
  useShortcut(input);
  useLeave(box, close);
  return (
    // A browser that translates the page would keep the texts of before.
    <search class="search" ref={box} translate={false}>
      <input
        ref={input}
        type="text"
        enterKeyHint="search"
        role="combobox"
        placeholder="Search"
        aria-label={label}
        aria-autocomplete="list"
        aria-expanded={isOpen}
        aria-controls={listId}
        aria-activedescendant={isOpen && active >= 0 ? `${listId}-${active}` : undefined}
        autocomplete="off"
        spellcheck={false}
        value={query}
        onInput={(event) => type(event.currentTarget.value)}
        onFocus={(event) => type(event.currentTarget.value)}
        onKeyDown={onKeyDown}
      />
      <div
        id={listId}
        class="results"
        role="listbox"
        aria-label="Results"
        hidden={!isOpen}
        // Without it, Tab would lead from the field to a list that scrolls.
        tabIndex={-1}
        // The field keeps the focus, also after a press that is released elsewhere.
        onMouseDown={(event) => event.preventDefault()}
      >
        {found.map((result, i) => (
          <Option
            key={result.key}
            id={`${listId}-${i}`}
            result={result}
            isActive={i === active}
            onGo={() => go(result)}
          />
        ))}
      </div>
      <p role="status" class={isOpen || results === undefined ? "sr-only" : "results"}>
        {messageOf(results)}
      </p>
    </search>
  );
}

/** What is typed, and the results for it. */
function useSearch(find: Props["find"], pauseMs: number, place: string | undefined) {
  const [query, setQuery] = useState("");
  const [results, setResults] = useState<readonly SearchResult[] | string>();
  const latest = useLatest(place);
  return {
    query,
    results,
    async search(text: string): Promise<void> {
      setQuery(text);
      latest.current = text;
      if (text.trim() === "") return setResults(undefined);
      if (pauseMs > 0) await new Promise((done) => setTimeout(done, pauseMs));
      if (latest.current !== text) return;
      const found = await find(text.trim());
      if (latest.current === text) setResults(found);
    },
    /** For Enter before the results have appeared. */
    async first(): Promise<SearchResult | undefined> {
      if (query.trim() === "") return undefined;
      latest.current = query;
      const found = await find(query.trim());
      if (latest.current !== query) return undefined;
      if (typeof found !== "string" && found.length > 0) return found[0];
      setResults(found);
      return undefined;
    },
    close(): void {
      latest.current = "";
      setResults(undefined);
    },
  };
}

type OptionProps = {
  readonly id: string;
  readonly result: SearchResult;
  readonly isActive: boolean;
  readonly onGo: () => void;
};

/** The focus stays in the field, as in the combobox pattern of the ARIA Authoring Practices Guide. */
function Option({ id, result, isActive, onGo }: OptionProps) {
  const element = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (isActive && element.current) showInList(element.current);
  }, [isActive]);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the field has the focus, so it gets the keys, and its Enter does the same.
    // biome-ignore lint/a11y/useFocusableInteractive: focus would leave the field, whose aria-activedescendant names this option.
    <div ref={element} id={id} role="option" aria-selected={isActive} onClick={onGo}>
      <strong>{result.title}</strong>
      <span>{result.text}</span>
    </div>
  );
}

/** Scrolls the list only. `scrollIntoView` would scroll the page too, as the list is over its scroll padding. */
function showInList(option: HTMLElement): void {
  const list = option.parentElement;
  if (!list) return;
  const bottom = option.offsetTop + option.offsetHeight;
  if (option.offsetTop < list.scrollTop) list.scrollTop = option.offsetTop;
  else if (bottom > list.scrollTop + list.clientHeight) list.scrollTop = bottom - list.clientHeight;
}

function messageOf(results: readonly SearchResult[] | string | undefined): string {
  if (results === undefined) return "";
  if (typeof results === "string") return results;
  if (results.length === 0) return "Nothing found";
  return results.length === 1 ? "1 result" : `${results.length} results`;
}

/** The key `/` leads to the field. */
function useShortcut(input: { readonly current: HTMLInputElement | null }): void {
  // With useEffect, the first keys on a page that was just shown could get lost.
  useLayoutEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const isOther = event.ctrlKey || event.metaKey || event.altKey;
      if (event.key !== "/" || isOther || isTyping(event.target)) return;
      event.preventDefault();
      input.current?.focus();
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, [input]);
}

/** By a click outside, or with the focus, such as by Tab. */
function useLeave(box: { readonly current: HTMLElement | null }, onLeave: () => void): void {
  useEffect(() => {
    const listen = ({ target }: Event) => {
      if (target instanceof Node && !box.current?.contains(target)) onLeave();
    };
    document.addEventListener("click", listen);
    document.addEventListener("focusin", listen);
    return () => {
      document.removeEventListener("click", listen);
      document.removeEventListener("focusin", listen);
    };
  });
}

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLInputElement ||
    target instanceof HTMLSelectElement ||
    target instanceof HTMLTextAreaElement
  );
}
