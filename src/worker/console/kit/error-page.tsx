/** The page of an error, in the console and for owners. */
import { ERROR_STATUS } from "../../platform/error-codes.ts";
import type { ApiError } from "../../platform/errors.ts";
import { inWords } from "./labels.ts";
import { barePage, type ConsoleContext, page } from "./page.tsx";

/** Without a session, the page has no navigation. */
export function errorPage(c: ConsoleContext, error: ApiError): Response | Promise<Response> {
  const status = ERROR_STATUS[error.code];
  const frame = { title: status === 404 ? "Not found" : "That did not work", status };
  for (const [name, value] of Object.entries(error.headers)) c.header(name, value);
  const isOfOwner = /^\/owner(?![^/])/.test(c.req.path);
  const content = (
    <>
      <p>{inWords(error)}</p>
      <p class="row">
        {status === 400 && c.req.method === "GET" && <a href={c.req.path}>Without filters</a>}
        {status === 403 && c.req.method === "GET" && (
          <a href={c.req.path.replace(/\/[^/]+$/, "")}>The page without the form</a>
        )}
        {isOfOwner ? <a href="/owner">Your keys</a> : <a href="/console">Overview</a>}
      </p>
    </>
  );
  if (isOfOwner) return barePage(c, frame, content, "/owner");
  return c.var.author ? page(c, frame, content) : barePage(c, frame, content);
}
