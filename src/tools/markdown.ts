/** Makes HTML of docs/ for the console. The documents are our own, so HTML in their text stays HTML. */
import { Marked, type RendererObject } from "marked";
import { gfmHeadingId } from "marked-gfm-heading-id";

const renderer: RendererObject = {
  /** Makes the same HTML as the console's own tables, whose rows are cards on a phone. */
  table({ header, rows }) {
    const inline = this.parser.parseInline.bind(this.parser);
    const names = header.map(({ text }) => text.replaceAll("`", ""));
    const columns = header.map(({ tokens }) => `<th scope="col">${inline(tokens)}</th>`).join("");
    const body = rows.map(([first, ...cells]) => {
      const others = cells.map(({ tokens }, i) => `<td data-column="${names[i + 1]}">${inline(tokens)}</td>`);
      return `<tr><th scope="row">${inline(first?.tokens ?? [])}</th>${others.join("")}</tr>`;
    });
    return `<div class="scrollable" tabindex="0"><table><thead><tr>${columns}</tr></thead><tbody>${body.join("")}</tbody></table></div>`;
  },
  /** The console shows no file outside docs/. False makes an ordinary link. */
  link({ href, tokens }) {
    return href.startsWith("../") && this.parser.parseInline(tokens);
  },
};

const marked = new Marked(gfmHeadingId(), { renderer });

export function toHtml(markdown: string): string {
  return marked.parse(markdown, { async: false });
}
