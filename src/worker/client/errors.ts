/** What an error of the client API has beside its body: the address of what to do. */
import { ApiError, renderError } from "../platform/errors.ts";

/** `Link` names the row about the code in the documentation's table of errors (RFC 8288). */
export function renderClientError(error: ApiError): Response {
  const response = renderError(error);
  response.headers.set("Link", `</docs#${error.code}>; rel="help"`);
  return response;
}

/** The last handler of a path, for all methods that `allow` does not list. */
export function refuseOtherMethods(allow: string): () => Response {
  const error = new ApiError("method_not_allowed", "This method is not allowed here; see the Allow header.", {
    headers: { Allow: allow },
  });
  return () => renderClientError(error);
}
