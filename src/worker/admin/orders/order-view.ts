/** Orders as the console shows them: their integers have 64 bits, so that they stay text. */
import { parseExactJson } from "../../exact-json.ts";

export type ShownOrder = {
  readonly id: string;
  readonly petId: string | null;
  readonly quantity: string | null;
  readonly shipDate: string | null;
  readonly complete: boolean | null;
  readonly status: string;
  readonly version: string;
};

export type ShownCancellation = Omit<ShownOrder, "status" | "version"> & {
  readonly number: string;
  readonly cancelledAt: string;
  readonly cancelledBy: string;
  readonly requestId: string;
};

/** `json`: as SQLite wrote it. */
export function toShown<Shown extends ShownOrder | ShownCancellation>(json: string): Shown {
  return parseExactJson(json, (_value, source) => source) as Shown;
}
