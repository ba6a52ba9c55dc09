/** Lists and cancels with the client that swagger-typescript-api generates. Copied beside `generated` before it is compiled. */
import { Api } from "./generated/swagger-typescript-api/api";
import { isWholeSeconds, type Keys, type Outcome } from "./outcome";

/** `format` is also the format of errors, which are thrown. */
const clientWith = (key: string) =>
  new Api({ baseApiParams: { format: "json", headers: { Authorization: `Bearer ${key}` } } }).store;

type Client = ReturnType<typeof clientWith>;
type Listed = Awaited<ReturnType<Client["listOrders"]>>;
type Cancelled = Awaited<ReturnType<Client["cancelOrder"]>>;

export async function run(keys: Keys): Promise<Outcome> {
  const client = clientWith(keys.usable);
  const listed = await client.listOrders();
  const cancelled = await client.cancelOrder(1);
  const conflict = await client.cancelOrder(2).catch((thrown: Cancelled) => thrown);
  const limited = await clientWith(keys.exhausted)
    .listOrders()
    .catch((thrown: Listed) => thrown);

  // @ts-expect-error: the generated type must refuse a code that the document does not list
  if (conflict.error.code === "too_late") throw new Error("unreachable");
  // @ts-expect-error: the generated order must have no status, which the API does not show
  void listed.data[0]?.status;
  return {
    listed: listed.data,
    cancelled: cancelled.status,
    conflict: { status: conflict.error.status, code: conflict.error.code },
    limited: {
      status: limited.error?.status,
      code: limited.error?.code,
      waitsSeconds: isWholeSeconds(limited.headers.get("Retry-After")),
    },
  };
}
