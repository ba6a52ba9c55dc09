/** Makes the page at /docs of the contract. All of its text is in the HTML, so it needs no script. */
import { Marked, type Token } from "marked";

type Described = { readonly description: string };
type Operation = Described & {
  readonly summary: string;
  readonly deprecated?: boolean;
  readonly parameters?: readonly (Described & { readonly name: string; readonly in: string })[];
  readonly responses: Readonly<Record<string, Described | { readonly $ref: string }>>;
  readonly "x-codeSamples"?: readonly { readonly source: string }[];
};
/** openapi.yaml, with its holes. */
export type Contract = {
  readonly info: Described & { readonly title: string; readonly summary: string };
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly headers: Readonly<Record<string, Described & { readonly example: unknown }>>;
    readonly responses: Readonly<Record<string, Described>>;
    readonly schemas: {
      readonly Order: {
        readonly properties: Readonly<Record<string, Described>>;
        readonly examples: readonly object[];
      };
    };
  };
};

const marked = new Marked({
  renderer: {
    heading({ tokens, depth, text }) {
      return `<h${depth} id="${idOf(text)}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
    },
  },
});

export function docsPage({ info, paths, components }: Contract): string {
  const { properties, examples } = components.schemas.Order;
  const operations = Object.entries(paths)
    .flatMap(([path, methods]) => Object.entries(methods).map(([method, of]) => ({ path, method, ...of })))
    // Each HEAD is a GET without its body: one sentence of the introduction says so.
    .filter(({ method }) => method !== "head");
  const text = [
    info.description,
    "## Operations",
    ...operations.map((each) => operationText(each, components)),
    "## Members of an order",
    table(
      ["Member", "Meaning"],
      Object.entries(properties).map(([name, { description }]) => [code(name), description]),
    ),
    `\`\`\`json\n[\n${examples.map((order) => `  ${JSON.stringify(order)}`).join(",\n")}\n]\n\`\`\``,
    "## Headers of an answer",
    table(
      ["Header", "Meaning", "Example"],
      Object.entries(components.headers).map(([name, { description, example }]) => [
        code(name),
        description,
        code(String(example)),
      ]),
    ),
  ];
  const tokens = marked.lexer(text.join("\n\n"));
  const links = tokens.flatMap((token) => {
    if (token.type !== "heading") return [];
    const kind = token.depth === 3 ? "operation" : "section";
    return `<li class="${kind}"><a href="#${idOf(token.text)}">${token.text}</a></li>`;
  });
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${info.title}: documentation</title>
<meta name="description" content="${info.summary}">
<link rel="icon" href="/docs/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="/docs/page.css">
<script src="/docs/page.js" type="module"></script>
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
<header><a class="brand" href="/docs"><img src="/docs/icon.svg" alt="" width="24" height="24"> ${info.title}</a>
<a href="/docs/try">Try the calls</a> <a href="/openapi.json">OpenAPI</a></header>
<div class="columns">
<nav aria-label="Contents"><details><summary>Contents</summary><ul>${links.join("\n")}</ul></details></nav>
<main id="content" tabindex="-1">
<h1>${info.title}</h1>
${withTabs(tokens)}
</main>
</div>
</body>
</html>
`.replaceAll(/<table>[\s\S]*?<\/table>/g, `<div class="scrollable" tabindex="0">$&</div>`);
}

function operationText(
  operation: Operation & { readonly path: string; readonly method: string },
  { responses }: Contract["components"],
): string {
  const { path, method, summary, description, parameters = [], "x-codeSamples": samples = [] } = operation;
  const answers = Object.entries(operation.responses).map(([status, answer]) => {
    const { description = "" } =
      "$ref" in answer ? (responses[answer.$ref.split("/").at(-1) ?? ""] ?? {}) : answer;
    return [code(status), description];
  });
  return [
    `### ${summary}`,
    `${code(`${method.toUpperCase()} {{baseUrl}}${path}`)}${operation.deprecated ? " (deprecated)" : ""}`,
    description,
    ...samples.map(({ source }) => `\`\`\`sh\n${source}\n\`\`\``),
    table(
      ["Sent", "Meaning"],
      parameters.map(({ name, in: place, description }) => [`${code(name)} (${place})`, description]),
    ),
    table(["Answer", "Meaning"], answers),
  ].join("\n\n");
}

/** Programs that stand below each other, each after a line that names its language, become tabs. */
function withTabs(tokens: readonly Token[]): string {
  const html: string[] = [];
  const parse = (part: readonly Token[]) => marked.parser([...part]);
  const words = tokens.filter(({ type }) => type !== "space");
  for (let i = 0, groups = 0; i < words.length; ) {
    const programs: { readonly name: string; readonly html: string }[] = [];
    for (let name = languageAt(words, i); name !== undefined; name = languageAt(words, i)) {
      programs.push({ name, html: parse(words.slice(i + 1, i + 2)) });
      i += 2;
    }
    if (programs.length > 1) html.push(tabs(`tabs-${++groups}`, programs));
    else if (programs.length === 1) html.push(parse(words.slice(i - 2, i)));
    else html.push(parse(words.slice(i, ++i)));
  }
  return html.join("");
}

function languageAt(tokens: readonly Token[], at: number): string | undefined {
  const [before, program] = tokens.slice(at, at + 2);
  if (before?.type !== "paragraph" || program?.type !== "code") return undefined;
  const words = before.text.replaceAll(/\[(.+?)\]\(.+?\)/g, "$1");
  return /^([^.]+):$/.exec(words)?.[1];
}

/** A choice by radio buttons needs no script. */
function tabs(group: string, programs: readonly { readonly name: string; readonly html: string }[]): string {
  const choices = programs.map(
    ({ name }, i) =>
      `<label><input type="radio" name="${group}" value="${name}"${i === 0 ? " checked" : ""}> ${name}</label>`,
  );
  const panels = programs.map(({ html }) => `<div class="program">${html}</div>`);
  return `<div class="tabs"><fieldset><legend>Language</legend>${choices.join("")}</fieldset>${panels.join("")}</div>`;
}

function table(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  if (rows.length === 0) return "";
  const line = (cells: readonly string[]) => `| ${cells.map(inCell).join(" | ")} |`;
  return [line(heads), line(heads.map(() => "---")), ...rows.map(line)].join("\n");
}

const inCell = (text: string) => text.replaceAll("|", "\\|").replaceAll(/\s*\n\s*/g, "<br>");

const code = (text: string) => `\`${text}\``;

/** As GitHub makes ids of headings. */
const idOf = (heading: string) =>
  heading
    .toLowerCase()
    .replaceAll(/[^\w -]/g, "")
    .replaceAll(" ", "-");
