/** The programs of the quick start. They are complete, and tests run them as the page shows them. */
import heyApiSh from "./examples/clients/hey-api.sh" with { type: "text" };
import orvalSh from "./examples/clients/orval.sh" with { type: "text" };
import swaggerTypescriptApiSh from "./examples/clients/swagger-typescript-api.sh" with { type: "text" };
import listMjs from "./examples/list.mjs" with { type: "text" };
import listPy from "./examples/list.py" with { type: "text" };
import listSh from "./examples/list.sh" with { type: "text" };
import ordersMjs from "./examples/orders.mjs" with { type: "text" };
import ordersPy from "./examples/orders.py" with { type: "text" };
import ordersSh from "./examples/orders.sh" with { type: "text" };

/** As the files have it, so that they run against `npm start`. */
const LOCAL_ORIGIN = "http://localhost:8787";

export type ExampleProgram = { readonly id: string; readonly language: string; readonly text: string };

export type ExamplePrograms = readonly ExampleProgram[];

/** The first request. */
export function listPrograms(baseUrl: string): ExamplePrograms {
  return programs({ curl: listSh, javascript: listMjs, python: listPy }, baseUrl);
}

/** Lists or cancels, and waits after a 429. */
export function waitingPrograms(baseUrl: string): ExamplePrograms {
  return programs({ curl: ordersSh, javascript: ordersMjs, python: ordersPy }, baseUrl);
}

/** The commands that generate a client, by the name of the tool. */
export function clientGenerators(baseUrl: string): ExamplePrograms {
  const texts = {
    "hey-api": heyApiSh,
    orval: orvalSh,
    "swagger-typescript-api": swaggerTypescriptApiSh,
  };
  return Object.entries(texts).map(([name, text]) => ({
    id: name,
    language: name,
    text: localized(text, baseUrl),
  }));
}

const LANGUAGES = { curl: "curl", javascript: "JavaScript", python: "Python" } as const;

function programs(texts: Record<keyof typeof LANGUAGES, string>, baseUrl: string): ExamplePrograms {
  return (["curl", "javascript", "python"] as const).map((id) => ({
    id,
    language: LANGUAGES[id],
    text: localized(texts[id], baseUrl),
  }));
}

function localized(text: string, baseUrl: string): string {
  return text.replaceAll(LOCAL_ORIGIN, new URL(baseUrl).origin).trimEnd();
}
