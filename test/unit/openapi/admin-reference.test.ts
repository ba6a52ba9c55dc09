/** The reference of the admin API has examples that its schemas accept. */
import * as v from "valibot";
import { describe, it } from "vitest";
import { CALLS, TAGS } from "../../../src/worker/admin/calls.ts";

describe("the calls of the admin API", () => {
  it("have an example of each answer and each body, which the schemas accept", ({ expect }) => {
    for (const { id, answer, body, upload, example } of CALLS) {
      expect(v.safeParse(answer, example.answer).issues, id).toBeUndefined();
      expect("body" in example, `${id}: a body`).toBe((body ?? upload) !== undefined);
      if (body !== undefined) expect(v.safeParse(body, example.body).issues, id).toBeUndefined();
    }
  });

  it("have ids of their own, which begin with a group", ({ expect }) => {
    const ids = CALLS.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(new Set(ids.map((id) => id.split(".")[0]))).toEqual(new Set(Object.keys(TAGS)));
  });
});
