/** The table of contents: beside the page, or on a phone in a panel that a button opens. It marks the current place. */
import { useEffect, useState } from "preact/hooks";
import { useCurrentPlace } from "./current-place.ts";
import type { Section } from "./introduction.tsx";
import { slug } from "./markdown.tsx";
import type { OpenApi, OperationEntry } from "./openapi-model.ts";

type Place = {
  readonly id: string;
  readonly text: string;
  readonly operation?: OperationEntry;
  readonly places?: readonly Place[];
};

const QUICK_START: Place = {
  id: "quick-start",
  text: "Quick start",
  places: [
    { id: "get-a-key", text: "1. Get a key" },
    { id: "first-request", text: "2. Send a request" },
    { id: "what-comes-back", text: "3. What comes back" },
    { id: "wait-after-a-429", text: "4. Wait after a 429" },
    { id: "generate-a-client", text: "5. Generate a client" },
  ],
};

export function placesOf(
  sections: readonly Section[],
  operations: readonly OperationEntry[],
  openapi: OpenApi,
): Place[] {
  const ofOperation = (entry: OperationEntry): Place => ({
    id: entry.operation.operationId,
    text: entry.operation.summary,
    operation: entry,
  });
  const schemas = Object.keys(openapi.components.schemas);
  return [
    QUICK_START,
    ...sectionPlaces(sections),
    { id: "operations", text: "Operations", places: operations.map(ofOperation) },
    { id: "response-headers", text: "Response headers" },
    ...schemas.map((name) => ({ id: `schema-${slug(name)}`, text: name })),
  ];
}

/** Sections of level 3 are inside the section of level 2 before them. */
function sectionPlaces(sections: readonly Section[]): Place[] {
  const places: { id: string; text: string; places: Place[] }[] = [];
  for (const { heading, level } of sections) {
    const place = { id: slug(heading), text: heading, places: [] };
    (level > 2 ? (places.at(-1)?.places ?? places) : places).push(place);
  }
  return places;
}

export function Contents({ places }: { readonly places: readonly Place[] }) {
  const [isOpen, setIsOpen] = useState(false);
  const current = useCurrentPlace(places);
  useEffect(() => {
    const onKey = ({ key }: KeyboardEvent) => {
      if (key === "Escape") setIsOpen(false);
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, []);
  return (
    <div class="contents-column">
      <button
        type="button"
        class="button contents-button"
        aria-expanded={isOpen}
        aria-controls="contents"
        onClick={() => setIsOpen(!isOpen)}
      >
        Contents
      </button>
      <nav id="contents" class={isOpen ? "open" : undefined} aria-label="Contents">
        <PlaceList places={places} current={current} onGo={() => setIsOpen(false)} />
      </nav>
    </div>
  );
}

type ListProps = {
  readonly places: readonly Place[];
  readonly current: string | undefined;
  readonly onGo: () => void;
};

function PlaceList({ places, current, onGo }: ListProps) {
  return (
    <ul>
      {places.map((place) => (
        <li key={place.id}>
          <a
            href={`#${place.id}`}
            class={place.operation?.operation.deprecated ? "deprecated" : undefined}
            aria-current={place.id === current ? "location" : undefined}
            onClick={onGo}
          >
            {place.operation && <Method method={place.operation.method} />}
            {place.text}
          </a>
          {place.places && place.places.length > 0 && (
            <PlaceList places={place.places} current={current} onGo={onGo} />
          )}
        </li>
      ))}
    </ul>
  );
}

function Method({ method }: { readonly method: string }) {
  return (
    <>
      <span class={`method ${method.toLowerCase()}`}>{method === "DELETE" ? "DEL" : method}</span>{" "}
    </>
  );
}
