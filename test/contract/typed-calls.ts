/** Only compiled, never run: checks the types of the document. A `@ts-expect-error` without an error is an error itself. */
import createClient from "openapi-fetch";
import type { components, paths } from "./openapi-types.d.ts";

const client = createClient<paths>({ baseUrl: "https://orders.test/v1" });

export async function typedCalls(): Promise<void> {
  const listed = await client.GET("/store/orders", { params: { header: { "If-None-Match": '"1-a"' } } });
  const ids: (number | undefined)[] = (listed.data ?? []).map((order) => order.id);
  const dates: (string | undefined)[] = (listed.data ?? []).map((order) => order.shipDate);
  // @ts-expect-error: an order must have no status, which the API does not show
  listed.data?.map((order) => order.status);

  const cancelled = await client.DELETE("/store/orders/{orderId}", { params: { path: { orderId: 1 } } });
  const code: components["schemas"]["Error"]["code"] | undefined = cancelled.error?.code;
  // @ts-expect-error: the type must refuse a code that the document does not list
  if (cancelled.error?.code === "too_late") return;
  // @ts-expect-error: the type must refuse a text, as an order's id is a number
  await client.DELETE("/store/orders/{orderId}", { params: { path: { orderId: "one" } } });
  // @ts-expect-error: the type must refuse it, as orders cannot be placed
  await client.POST("/store/orders", {});
  // @ts-expect-error: the type must refuse a query, as there is no filter
  await client.GET("/store/orders", { params: { query: { limit: 1 } } });

  const pet = await client.GET("/pets/{petId}", { params: { path: { petId: 1 } } });
  // @ts-expect-error: there must be no data, as the deprecated operation has no success
  const name: string = pet.data;
  void [ids, dates, code, name];
}
