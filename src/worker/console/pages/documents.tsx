/** `/console/documents` shows the documents of docs/ in the version that runs. */
import { raw } from "hono/html";
import { notFound } from "../../platform/errors.ts";
import { type ConsoleContext, page } from "../kit/page.tsx";

/** The title and the HTML of each file, by its name. */
type Documents = Readonly<Record<string, { readonly title: string; readonly html: string }>>;

export async function documentsOf(): Promise<Documents> {
  const { default: text } = await import("../../../../dist/documents.txt");
  return JSON.parse(text); // the build wrote it
}

export async function documentPage(c: ConsoleContext): Promise<Response> {
  const documents = await documentsOf();
  const name = c.req.param("name") ?? "";
  const document = Object.hasOwn(documents, name) ? documents[name] : undefined;
  if (document === undefined) throw notFound("No document has this name.");
  return page(c, { title: document.title }, <article class="document">{raw(document.html)}</article>);
}
