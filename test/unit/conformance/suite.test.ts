/** Each row of `npm run conformance` sees its own fault, and nothing else. */
import { describe, it } from "vitest";
import { OTHER_FAULTS, PlantedLimiter } from "../../conformance/planted.ts";
import { askAll, ROWS } from "../../conformance/suite.ts";

const settings = PlantedLimiter.settings(["triple", "draft"]);

/** One after another, as a clock that does not wait belongs to one row. */
async function idsOf(verdict: string, world: () => PlantedLimiter, asked = settings): Promise<string[]> {
  const results = [];
  for (const row of ROWS) results.push(...(await askAll(world(), asked, [row])));
  return results.filter((result) => result.verdict === verdict).map(({ id }) => id);
}

class SlowLimiter extends PlantedLimiter {
  readonly #there: number;
  readonly #back: number;

  constructor(there: number, back: number) {
    super();
    this.#there = there;
    this.#back = back;
  }

  override async send(...sent: Parameters<PlantedLimiter["send"]>) {
    await this.sleep(this.#there);
    const answer = await super.send(...sent);
    await this.sleep(this.#back);
    return answer;
  }
}

it("a limiter without a fault passes each row, and with the smallest limit none is red", async ({
  expect,
}) => {
  expect(await idsOf("pass", () => new PlantedLimiter())).toEqual(ROWS.map(({ id }) => id));
  const { longer: _, ...others } = settings;
  const smallest = { ...others, limit: { ...settings.limit, count: 4 } };
  expect(await idsOf("FAIL", () => new PlantedLimiter(undefined, 4), smallest)).toEqual([]);
});

describe("a planted fault turns exactly its row red", () => {
  it.for(ROWS.map(({ id }) => id))("%s", async (id, { expect }) => {
    expect(await idsOf("FAIL", () => new PlantedLimiter(id))).toEqual([id]);
  });
});

it.for(Object.entries(OTHER_FAULTS))("%s: %s", async ([fault, rows], { expect }) => {
  expect(await idsOf("FAIL", () => new PlantedLimiter(fault))).toEqual(expect.arrayContaining(rows));
});

it.for([
  [15, 15],
  [0, 700],
  [700, 0],
  [0, 7_000],
  [1_000, 2_000],
] as const)("a way of %i ms there and %i ms back turns no row red", async ([there, back], { expect }) => {
  expect(await idsOf("FAIL", () => new SlowLimiter(there, back))).toEqual([]);
});

it("what the settings do not have is not asked", async ({ expect }) => {
  const { ok, header, limit } = settings;
  const asked = await idsOf("pass", () => new PlantedLimiter(), { ok, header, limit, profiles: [] });
  const expected = ROWS.filter(({ needs, profiles }) => !needs && !profiles).map(({ id }) => id);
  expect(asked).toEqual(expected);
});
