/** The columns of orders. */

import type { OrderView } from "../../../admin/orders/schema.ts";
import { formatNumber } from "../../../text/format.ts";
import { type Column, NONE, Time } from "../../kit/ui.tsx";

type Members = Pick<OrderView, "petId" | "quantity" | "shipDate" | "complete">;

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
