/** Markdown of the OpenAPI document as elements. */
import { marked, type Token, type Tokens } from "marked";
import { ScrollBox } from "../shared/scroll-box.tsx";

/** The text of a heading as an id for links. */
export function slug(text: string): string {
  return text
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-|-$/g, "");
}

export function Markdown({ text }: { readonly text: string }) {
  return <Html tag="div" class="text" html={marked.parse(text, { async: false })} />;
}

export function InlineMarkdown({ text }: { readonly text: string }) {
  return <Html tag="span" html={marked.parseInline(text, { async: false })} />;
}

type BlockProps = {
  readonly token: Token;
  /** The id of the section. */
  readonly within: string;
};

/** One block of a longer text. Tables can be searched by their rows. */
export function Block({ token, within }: BlockProps) {
  // marked's type of a token is a union with a type for extensions, so the check does not narrow it.
  return token.type === "table" ? (
    <Table table={token as Tokens.Table} within={within} />
  ) : (
    <Html tag="div" html={marked.parser([token])} />
  );
}

function Table({ table, within }: { readonly table: Tokens.Table; readonly within: string }) {
  const cell = (content: Tokens.TableCell) => (
    <Html tag="span" html={marked.Parser.parseInline(content.tokens)} />
  );
  const alignment = ({ align }: Tokens.TableCell) => (align === "right" ? "number" : undefined);
  return (
    <ScrollBox label={table.header.map(({ text }) => text).join(", ")}>
      <table>
        <thead>
          <tr>
            {table.header.map((content) => (
              <th key={content.text} scope="col" class={alignment(content)}>
                {cell(content)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {table.rows.map((row) => (
            <tr
              key={row[0]?.text}
              id={`${within}-${slug(plainText(row[0]))}`}
              data-search={plainText(row[0])}
            >
              {row.map((content, i) => (
                <td key={table.header[i]?.text} class={alignment(content)}>
                  {cell(content)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </ScrollBox>
  );
}

function plainText(cell: Tokens.TableCell | undefined): string {
  return (cell?.tokens ?? []).map((token) => ("text" in token ? String(token.text) : token.raw)).join("");
}

type HtmlProps = { readonly tag: "div" | "span"; readonly html: string; readonly class?: string };

/** The service's own document. The page's policy forbids scripts in it anyway. */
function Html({ tag: Tag, html, class: name }: HtmlProps) {
  return <Tag class={name} dangerouslySetInnerHTML={{ __html: html }} />;
}
