/** Makes HTML of Markdown, for the parts of Markdown that docs/ uses. Pure. */

const LIST_ITEM = /^(?:-|\d+\.) /;
const STARTS_BLOCK = /^(?:#+ |```|\||(?:-|\d+\.) )/;

export function toHtml(markdown: string): string {
  return blocksOf(markdown.split("\n")).join("\n");
}

/** GitHub makes the same anchors: `ADR-7. Fixed windows` becomes `adr-7-fixed-windows`. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\w -]/g, "")
    .replaceAll(" ", "-");
}

function blocksOf(lines: readonly string[]): string[] {
  const blocks: string[] = [];
  let rest = lines;
  /** Takes the next lines, up to the first line that does not belong to them. */
  const take = (belongs: (line: string, i: number) => boolean) => {
    const end = rest.findIndex((line, i) => !belongs(line, i));
    const taken = end === -1 ? rest : rest.slice(0, end);
    rest = rest.slice(taken.length);
    return taken;
  };
  for (;;) {
    take((line) => line.trim() === "");
    const [line] = rest;
    if (line === undefined) return blocks;
    const [, marks, heading] = /^(#+) (.*)$/.exec(line) ?? [];
    if (marks !== undefined && heading !== undefined) {
      blocks.push(`<h${marks.length} id="${anchorOf(heading)}">${inline(heading)}</h${marks.length}>`);
      rest = rest.slice(1);
    } else if (line.startsWith("```")) {
      const code = take((each, i) => i === 0 || !each.startsWith("```"));
      blocks.push(`<pre><code>${escapeHtml(code.slice(1).join("\n"))}</code></pre>`);
      rest = rest.slice(1);
    } else if (line.startsWith("|")) {
      blocks.push(tableOf(take((each) => each.startsWith("|"))));
    } else if (LIST_ITEM.test(line)) {
      const name = line.startsWith("-") ? "ul" : "ol";
      const items: string[] = [];
      while (LIST_ITEM.test(rest[0] ?? "")) {
        const item = take((each, i) => i === 0 || each === "" || each.startsWith("  "));
        items.push(`<li>${itemOf(item)}</li>`);
      }
      blocks.push(`<${name}>${items.join("")}</${name}>`);
    } else {
      const text = take((each, i) => i === 0 || (each !== "" && !STARTS_BLOCK.test(each)));
      blocks.push(`<p>${inline(text.join(" "))}</p>`);
    }
  }
}

/** The first text of a list item is not wrapped in a paragraph. */
function itemOf([first = "", ...others]: readonly string[]): string {
  const lines = [first.replace(LIST_ITEM, ""), ...others.map((line) => line.replace(/^ {2,3}/, ""))];
  return blocksOf(lines)
    .join("\n")
    .replace(/^<p>(.*)<\/p>/, "$1");
}

/** On a phone each row is a card, as in the console's own tables. */
function tableOf([head = "", , ...rows]: readonly string[]): string {
  const names = cellsOf(head);
  const columns = names.map((name) => `<th scope="col">${inline(name)}</th>`).join("");
  const body = rows.map((row) => {
    const [first = "", ...cells] = cellsOf(row).map(inline);
    const others = cells.map(
      (cell, i) => `<td data-column="${escapeHtml((names[i + 1] ?? "").replaceAll("`", ""))}">${cell}</td>`,
    );
    return `<tr><th scope="row">${first}</th>${others.join("")}</tr>`;
  });
  return `<div class="scrollable" tabindex="0"><table><thead><tr>${columns}</tr></thead><tbody>${body.join("")}</tbody></table></div>`;
}

function cellsOf(row: string): string[] {
  const cells = row
    .trim()
    .slice(1, -1)
    .split(/(?<!\\)\|/);
  return cells.map((cell) => cell.trim().replaceAll("\\|", "|"));
}

function inline(text: string): string {
  const parts = text.split(/(`[^`]*`)/);
  const marked = parts.map((part) =>
    part.startsWith("`")
      ? `<code>${escapeHtml(part.slice(1, -1))}</code>`
      : escapeHtml(part)
          .replace(/\*\*(.+?)\*\*/g, "<b>$1</b>")
          .replace(/\*(.+?)\*/g, "<i>$1</i>"),
  );
  // The console does not show files outside docs/.
  return marked
    .join("")
    .replace(/\[([^\]]+)\]\(([^)\s]+)\)/g, (_, name: string, target: string) =>
      target.startsWith("../") ? name : `<a href="${target}">${name}</a>`,
    );
}

function escapeHtml(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
}
