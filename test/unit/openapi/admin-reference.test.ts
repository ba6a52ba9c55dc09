/** The reference of the admin API has every route, and examples that its schemas accept. Redocly lints the document in test/e2e/openapi.test.ts. */
import * as v from "valibot";
import { describe, it } from "vitest";
import { adminReference, apiRoutes } from "../../../src/tools/admin-reference.ts";
import { REFERENCE, TAGS } from "../../../src/worker/admin/reference.ts";

const routes = apiRoutes().map((route) => ({ ...route, name: `${route.method} ${route.path}` }));

describe("the reference of the admin API", () => {
  it("describes every route, and no other", async ({ expect }) => {
    expect(Object.keys(REFERENCE).sort()).toEqual(routes.map(({ name }) => name).sort());
    const { paths } = await adminReference();
    const documented = Object.entries(paths ?? {}).flatMap(([path, operations]) =>
      Object.keys(operations).map((method) => `${method.toUpperCase()} ${path}`),
    );
    const inDocument = (name: string) => name.replace(" ", " /admin").replaceAll(/:(\w+)/g, "{$1}");
    expect(documented.sort()).toEqual(routes.map(({ name }) => inDocument(name)).sort());
  });

  it("has an example of each answer and each body, which the schemas accept", ({ expect }) => {
    for (const { name, checks } of routes) {
      const { answer, example, body } = REFERENCE[name] ?? {};
      const schema = checks.find(({ target }) => target === "json")?.schema;
      expect(body === undefined, `${name}: a body`).toBe(schema === undefined && name !== "PUT /orders");
      if (schema !== undefined) expect(v.safeParse(schema, body?.example).issues, name).toBeUndefined();
      if (answer !== undefined) expect(v.safeParse(answer, example).issues, name).toBeUndefined();
    }
  });

  it("has an operation id for each route, which begins with a group", ({ expect }) => {
    const ids = Object.values(REFERENCE).map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    const groups = Object.keys(TAGS);
    expect(new Set(ids.map((id) => id.split(".")[0]))).toEqual(new Set(groups));
  });
});
