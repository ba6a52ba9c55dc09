/** Lists and cancels with the client that hey-api generates. It is copied beside `generated`. */
import { client } from "./generated/hey-api/client.gen.ts";
import { cancelOrder, headOrders, listOrders } from "./generated/hey-api/sdk.gen.ts";
import { isWholeSeconds, type Keys, type Outcome } from "./outcome.ts";

export async function run(keys: Keys): Promise<Outcome> {
  client.setConfig({ auth: keys.usable });
  const listed = await listOrders();
  const head = await headOrders();
  const cancelled = await cancelOrder({ path: { orderId: 1 } });
  const conflict = await cancelOrder({ path: { orderId: 2 } });
  const limited = await listOrders({ auth: keys.exhausted });

  // @ts-expect-error: the generated order must have no status, which the API does not show
  void listed.data?.[0]?.status;
  return {
    listed: listed.data ?? [],
    hasEtag: head.response?.headers.has("ETag") ?? false,
    cancelled: cancelled.response?.status,
    conflict: { status: conflict.error?.status, code: conflict.error?.code },
    limited: {
      status: limited.error?.status,
      code: limited.error?.code,
      waitsSeconds: isWholeSeconds(limited.response?.headers.get("Retry-After")),
    },
  };
}
