/** The questions about long numbers of a file: the service takes only numbers that an order can have. */
import { describe, it } from "vitest";
import { findRounded } from "../../../../src/worker/admin/orders/file/near.ts";
import { MAX_ASKED } from "../../../../src/worker/admin/orders/loaded-order.ts";
import { isInt64 } from "../../../../src/worker/text/int64.ts";

const MAX = 2n ** 63n - 1n;
/** Both ends of int64, and the numbers near them that a double or 15 digits hold. */
const ENDS = [MAX, MAX - 1_023n, 9_223_372_036_854_770_000n].flatMap((end) => [end, -end]).concat(-MAX - 1n);

describe("the questions about long numbers", () => {
  it("ask for nothing beyond int64, at both ends", async ({ expect }) => {
    const members = ENDS.map((end) => ({ id: "1", member: "petId" as const, value: String(end) }));
    const asked: { value: string; from: string; to: string }[] = [];
    await findRounded(ENDS, members, async (question) => {
      asked.push(...question.asked);
      return { found: [] };
    });
    expect(asked.filter(({ from, to }) => !isInt64(from) || !isInt64(to))).toEqual([]);
    for (const { value, from, to } of asked)
      expect([BigInt(from) <= BigInt(value), BigInt(to) >= BigInt(value)], value).toEqual([true, true]);
    expect(new Set(asked.map(({ value }) => BigInt(value)))).toEqual(new Set(ENDS));
  });

  it("name each id of the file that is near an id in question, also of another question", async ({
    expect,
  }) => {
    const ids = Array.from({ length: 2 * MAX_ASKED + 1 }, (_, i) => 2n ** 53n + BigInt(i));
    const file = new Set(ids.map(String));
    let questions = 0;
    await findRounded(ids, [], async ({ asked, known }) => {
      questions++;
      const near = new Set<string>();
      for (const { from, to } of asked)
        for (let id = BigInt(from); id <= BigInt(to); id++) near.add(String(id));
      expect(near.intersection(file).difference(new Set(known))).toEqual(new Set());
      return { found: [] };
    });
    expect(questions).toBe(3);
  });
});
