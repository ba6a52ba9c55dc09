/** The introduction of the OpenAPI document: one section for each heading, as a search result. */
import { marked, type Token } from "marked";
import { ScrollBox } from "../shared/scroll-box.tsx";
import { Block, slug } from "./markdown.tsx";
import type { OpenApi } from "./openapi-model.ts";

export type Section = {
  readonly heading: string;
  /** Of the heading: 2 or 3. */
  readonly level: number;
  readonly blocks: readonly Token[];
};

export type IntroductionText = {
  /** The text before the first heading. */
  readonly lead: readonly Token[];
  readonly sections: readonly Section[];
};

export function parseIntroduction(markdown: string): IntroductionText {
  const lead: Token[] = [];
  const sections: { heading: string; level: number; blocks: Token[] }[] = [];
  for (const token of marked.lexer(markdown)) {
    if (token.type === "heading") sections.push({ heading: token.text, level: token.depth, blocks: [] });
    else if (token.type !== "space") (sections.at(-1)?.blocks ?? lead).push(token);
  }
  return { lead, sections };
}

export function Lead({ blocks }: { readonly blocks: readonly Token[] }) {
  return blocks.map((token) => <Block key={token.raw} token={token} within="lead" />);
}

export function Sections({ sections }: { readonly sections: readonly Section[] }) {
  return sections.map(({ heading, level, blocks }) => {
    const id = slug(heading);
    const Heading = level > 2 ? "h3" : "h2";
    return (
      <section key={id} id={id} data-search={heading}>
        <Heading>{heading}</Heading>
        {blocks.map((token) => (
          <Block key={token.raw} token={token} within={id} />
        ))}
      </section>
    );
  });
}

export function Servers({ servers }: Pick<OpenApi, "servers">) {
  return (
    <ScrollBox label="Base URLs">
      <table class="facts">
        <tbody>
          {servers.map(({ url, description }) => (
            <tr key={url}>
              <th scope="row">{description}</th>
              <td>
                <code>{new URL(url, location.origin).href}</code>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </ScrollBox>
  );
}
