/** Orders in the form that the console shows. Integers have 64 bits, so they stay text. */

import type { Rendered } from "../../../admin/call.ts";
import { parseExactJson } from "../../../text/exact-json.ts";
import { formatNumber } from "../../../text/format.ts";
import { type Column, NONE, Time } from "../../kit/ui.tsx";

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

export function toShown<Shown>({ text }: Rendered): Shown {
  // The call's schema says which members the text has.
  return parseExactJson(text, (_value, source) => source) as Shown;
}

type Members = Pick<ShownOrder, "petId" | "quantity" | "shipDate" | "complete">;

export const LISTED_COLUMNS: readonly Column<Members>[] = [
  { name: "Pet", isNumber: true, cell: ({ petId }) => petId ?? NONE },
  {
    name: "Quantity",
    isNumber: true,
    cell: ({ quantity }) => (quantity === null ? NONE : formatNumber(BigInt(quantity))),
  },
  {
    name: "Ship date",
    isClear: true,
    saysNothing: ({ shipDate }) => shipDate === null,
    cell: ({ shipDate }) => <Time iso={shipDate} />,
  },
];

export const MEMBER_COLUMNS: readonly Column<Members>[] = [
  ...LISTED_COLUMNS,
  {
    name: "Complete",
    cell: ({ complete }) => (complete === null ? NONE : complete ? "yes" : <span class="none">no</span>),
  },
];
