/** The reference of the admin API has examples of bodies that its schemas accept. */
import * as v from "valibot";
import { describe, it } from "vitest";
import { CALLS, TAGS } from "../../../src/worker/admin/calls.ts";

describe("the calls of the admin API", () => {
  it("have an example of each body, which the schemas accept", ({ expect }) => {
    for (const { id, body, upload, example } of CALLS) {
      expect(example !== undefined, id).toBe((body ?? upload) !== undefined);
      if (body !== undefined) expect(v.safeParse(body, example).issues, id).toBeUndefined();
    }
  });

  it("have ids of their own, which begin with a group", ({ expect }) => {
    const ids = CALLS.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(new Set(ids.map((id) => id.split(".")[0]))).toEqual(new Set(Object.keys(TAGS)));
  });
});
