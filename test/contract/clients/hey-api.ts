/** Lists and cancels with the client that hey-api generates. Copied beside `generated` before it is compiled. */
import { client } from "./generated/hey-api/client.gen";
import { cancelOrder, listOrders } from "./generated/hey-api/sdk.gen";
import { isWholeSeconds, type Keys, type Outcome } from "./outcome";

export async function run(keys: Keys): Promise<Outcome> {
  client.setConfig({ auth: keys.usable });
  const listed = await listOrders();
  const cancelled = await cancelOrder({ path: { orderId: 1 } });
  const conflict = await cancelOrder({ path: { orderId: 2 } });
  const limited = await listOrders({ auth: keys.exhausted });

  // @ts-expect-error: the generated type must refuse a code that the document does not list
  if (conflict.error?.code === "too_late") throw new Error("unreachable");
  // @ts-expect-error: the generated order must have no status, which the API does not show
  void listed.data?.[0]?.status;
  return {
    listed: listed.data ?? [],
    cancelled: cancelled.response?.status,
    conflict: { status: conflict.error?.status, code: conflict.error?.code },
    limited: {
      status: limited.error?.status,
      code: limited.error?.code,
      waitsSeconds: isWholeSeconds(limited.response?.headers.get("Retry-After")),
    },
  };
}
