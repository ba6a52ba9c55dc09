/** Secrets that operators end at once, on isolates whose clocks differ: none is admitted again, and one stays valid. */
import fc from "fast-check";
import { afterEach, beforeEach, describe, it, vi } from "vitest";
import { hashKey } from "../../../src/worker/auth/key-hash.ts";
import { captureLog, setClock, startApp } from "../../support/worker.ts";
import { operatorOf, statusesAt } from "./admin-support.ts";

const NOON = Date.UTC(2034, 5, 1, 12);
const SKEWS_MS = [-2_500, 0, 3_000];

beforeEach(() => void captureLog());
afterEach(() => {
  vi.useRealTimers();
});

const operator = operatorOf(startApp());
const isolate = startApp();

type Secret = { readonly key: string; isEnded: boolean };

/** One key, whose secrets are ended, and told apart by what the operators were answered. */
class EndedSecrets {
  readonly #id: string;
  readonly secrets: Secret[];
  #nowMs = NOON;

  private constructor(id: string, key: string) {
    this.#id = id;
    this.secrets = [{ key, isEnded: false }];
  }

  static async create(): Promise<EndedSecrets> {
    setClock(NOON);
    const { body } = await operator("POST", "/keys", { name: "acme", plan: "business" });
    return new EndedSecrets(body.id, body.key);
  }

  async rotate(skewMs: number, graceSeconds: number): Promise<void> {
    this.#tick(skewMs);
    const { status, body } = await operator("POST", `/keys/${this.#id}/rotate`, { graceSeconds });
    if (status !== 200) throw new Error(String(body.message));
    if (graceSeconds === 0) for (const secret of this.secrets) secret.isEnded = true;
    this.secrets.push({ key: body.key, isEnded: false });
  }

  async retire(skewMs: number, index: number): Promise<void> {
    this.#tick(skewMs);
    const secret = this.secrets[index % this.secrets.length];
    if (!secret) return;
    const secretId = (await hashKey(secret.key)).slice(0, 16);
    const [before] = await statusesAt([isolate], secret.key);
    const { status } = await operator("DELETE", `/keys/${this.#id}/secrets/${secretId}`);
    if (status === 200) secret.isEnded = true;
    if (status !== 200 || before !== 200) return;
    const others = await Promise.all(this.secrets.map(({ key }) => statusesAt([isolate], key)));
    if (!others.flat().includes(200)) throw new Error("the key's last valid secret was ended");
  }

  async admittedEnded(): Promise<string[]> {
    const admitted: string[] = [];
    for (const skewMs of SKEWS_MS) {
      setClock(this.#nowMs + skewMs);
      for (const [i, { key, isEnded }] of this.secrets.entries()) {
        const [status] = await statusesAt([isolate], key);
        if (isEnded && status !== 401) admitted.push(`secret ${i} by a clock of ${skewMs} ms`);
      }
    }
    return admitted;
  }

  #tick(skewMs: number): void {
    this.#nowMs += 400;
    setClock(this.#nowMs + skewMs);
  }
}

const skewMs = fc.constantFrom(...SKEWS_MS);
const step = fc.oneof(
  fc.record({ do: fc.constant("rotate" as const), skewMs, graceSeconds: fc.constantFrom(0, 1, 4, 3_600) }),
  fc.record({ do: fc.constant("retire" as const), skewMs, index: fc.nat(5) }),
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

describe("secrets that were ended at once", () => {
  it("are admitted by no isolate, whatever follows and whatever its clock says", async ({ expect }) => {
    const property = fc.asyncProperty(fc.array(step, { minLength: 2, maxLength: 6 }), async (steps) => {
      const key = await EndedSecrets.create();
      for (const next of steps) {
        if (next.do === "rotate") await key.rotate(next.skewMs, next.graceSeconds);
        else await key.retire(next.skewMs, next.index);
        expect(await key.admittedEnded()).toEqual([]);
      }
    });
    const examples: [Step[]][] = [
      // The mark is not undone by a shorter grace period.
      [
        [
          { do: "rotate", skewMs: 3_000, graceSeconds: 0 },
          { do: "rotate", skewMs: -2_500, graceSeconds: 4 },
        ],
      ],
      // Retired by a clock for which the grace period is over.
      [
        [
          { do: "rotate", skewMs: 0, graceSeconds: 1 },
          { do: "retire", skewMs: 3_000, index: 0 },
        ],
      ],
      // The last one, by a clock for which its grace period is over.
      [
        [
          { do: "rotate", skewMs: 3_000, graceSeconds: 1 },
          { do: "retire", skewMs: -2_500, index: 1 },
          { do: "retire", skewMs: 3_000, index: 0 },
        ],
      ],
      // Both secrets, the second by a clock that is behind.
      [
        [
          { do: "rotate", skewMs: 0, graceSeconds: 3_600 },
          { do: "retire", skewMs: 3_000, index: 0 },
          { do: "retire", skewMs: -2_500, index: 1 },
        ],
      ],
    ];
    await fc.assert(property, { numRuns: 8, examples });
  });
});
