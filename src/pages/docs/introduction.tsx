/** The introduction of the OpenAPI document: one section for each heading, as a search result. */
import { marked, type Token } from "marked";
import { Block, slug } from "./markdown.tsx";
import type { OpenApi } from "./openapi-model.ts";

/** The first one has no heading. */
export type Section = { readonly heading: string | undefined; readonly blocks: readonly Token[] };

export function sectionsOf(markdown: string): Section[] {
  const sections: { heading: string | undefined; blocks: Token[] }[] = [{ heading: undefined, blocks: [] }];
  for (const token of marked.lexer(markdown)) {
    if (token.type === "heading") sections.push({ heading: token.text, blocks: [] });
    else if (token.type !== "space") sections.at(-1)?.blocks.push(token);
  }
  return sections;
}

type Props = { readonly sections: readonly Section[]; readonly servers: OpenApi["servers"] };

/** The server addresses come after the text before the first heading. */
export function Introduction({ sections, servers }: Props) {
  return (
    <>
      {sections.map(({ heading, blocks }) => (
        <section key={heading ?? ""} data-search={heading}>
          {heading !== undefined && <h2 id={slug(heading)}>{heading}</h2>}
          {blocks.map((token) => (
            <Block key={token.raw} token={token} />
          ))}
          {heading === undefined && <Servers servers={servers} />}
        </section>
      ))}
    </>
  );
}

function Servers({ servers }: Pick<Props, "servers">) {
  return (
    <div class="scrollable">
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
    </div>
  );
}
