/** The OpenAPI document of the admin API, which src/tools/admin-reference.ts makes in the build. */
import * as v from "valibot";
import { call, Rendered } from "./call.ts";

export const showReference = call({
  id: "reference.show",
  route: "GET /openapi.json",
  summary: "Get this document",
  description: "The OpenAPI document of the admin API, for programs.",
  answer: v.looseObject({ openapi: v.string() }),
  // The first request for the document loads the text. Nothing parses it.
  run: async ({ origin }) => {
    const { default: text } = await import("../../../dist/admin-openapi.txt");
    return new Rendered(text.replaceAll("{{origin}}", origin));
  },
});
