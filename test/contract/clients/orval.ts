/** Lists and cancels with the client that orval generates. Copied beside `generated` before it is compiled. */
import { cancelOrder, listOrders } from "./generated/orval";
import { isWholeSeconds, type Keys, type Outcome } from "./outcome";

export async function run(keys: Keys): Promise<Outcome> {
  const withKey = (key: string) => ({ headers: { Authorization: `Bearer ${key}` } });
  const listed = await listOrders(withKey(keys.usable));
  const cancelled = await cancelOrder(1, withKey(keys.usable));
  const conflict = await cancelOrder(2, withKey(keys.usable));
  const limited = await listOrders(withKey(keys.exhausted));

  if (listed.status !== 200 || conflict.status !== 409 || limited.status !== 429) {
    throw new Error(`answered with ${listed.status}, ${conflict.status} and ${limited.status}`);
  }
  // @ts-expect-error: the generated type must refuse a code that the document does not list for 409
  if (conflict.data.code === "not_found") throw new Error("unreachable");
  // @ts-expect-error: the generated order must have no status, which the API does not show
  void listed.data[0]?.status;
  return {
    listed: listed.data,
    cancelled: cancelled.status,
    conflict: { status: conflict.data.status, code: conflict.data.code },
    limited: {
      status: limited.data.status,
      code: limited.data.code,
      waitsSeconds: isWholeSeconds(limited.headers.get("Retry-After")),
    },
  };
}
