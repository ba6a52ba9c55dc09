/** Lists and cancels with the types that openapi-typescript generates. It is copied beside `generated`. */
import createClient from "openapi-fetch";
import type { paths } from "./generated/openapi-typescript.d.ts";
import { isWholeSeconds, type Keys, type Outcome } from "./outcome.ts";

export async function run(keys: Keys): Promise<Outcome> {
  const clientWith = (key: string) =>
    createClient<paths>({ baseUrl: keys.baseUrl, headers: { Authorization: `Bearer ${key}` } });
  const client = clientWith(keys.usable);
  const cancel = (orderId: number) =>
    client.DELETE("/store/orders/{orderId}", { params: { path: { orderId } } });
  const listed = await client.GET("/store/orders");
  const head = await client.HEAD("/store/orders");
  const cancelled = await cancel(1);
  const conflict = await cancel(2);
  const limited = await clientWith(keys.exhausted).GET("/store/orders");

  // @ts-expect-error: the type must refuse a query, as there is no filter
  void (() => client.GET("/store/orders", { params: { query: { limit: 1 } } }));
  // @ts-expect-error: the type must refuse the method, as orders cannot be placed
  void (() => client.POST("/store/orders", {}));
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
