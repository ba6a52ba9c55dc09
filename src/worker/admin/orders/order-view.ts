/** Orders in the form that the console shows. Integers have 64 bits, so they stay text. */
import { parseExactJson } from "../../exact-json.ts";
import type { JsonText } from "../call.ts";

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
  readonly cancelledByName: string | null;
  readonly requestId: string;
};

export function toShown<Shown>({ text }: JsonText): Shown {
  // The call's schema says which members the text has.
  return parseExactJson(text, (_value, source) => source) as Shown;
}
