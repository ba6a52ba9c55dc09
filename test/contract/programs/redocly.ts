/** Lists and cancels with the client that Redocly generates. It is copied beside `generated`. */
import { cancelOrder, configure, headOrders, listOrders } from "./generated/client.ts";
import { isWholeSeconds, type Keys, type Outcome } from "./outcome.ts";

export async function run(keys: Keys): Promise<Outcome> {
  configure({ auth: { bearer: keys.usable }, retry: { retries: 0 } });
  const listed = await listOrders();
  const head = await headOrders();
  const cancelled = await cancelOrder({ path: { orderId: 1 } });
  const conflict = await cancelOrder({ path: { orderId: 2 } });
  configure({ auth: { bearer: keys.exhausted } });
  const limited = await listOrders();

  // @ts-expect-error: the type must refuse a text, as an order's id is a number
  void (() => cancelOrder({ path: { orderId: "one" } }));
  // @ts-expect-error: the generated order must have no status, which the API does not show
  void listed.data?.[0]?.status;
  return {
    listed: listed.data ?? [],
    hasEtag: head.response.headers.has("ETag"),
    cancelled: cancelled.response.status,
    conflict: { status: conflict.error?.status, code: conflict.error?.code },
    limited: {
      status: limited.error?.status,
      code: limited.error?.code,
      waitsSeconds: isWholeSeconds(limited.response.headers.get("Retry-After")),
    },
  };
}
