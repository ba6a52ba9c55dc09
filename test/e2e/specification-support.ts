/** What the tests of the specification share: the service with one key, requests for orders, and the Error object. */
import { connect } from "node:net";
import { LIST, openService } from "../support/service.ts";

export type Order = { id: number; petId?: number; quantity?: number; shipDate?: string; complete?: boolean };

export type ErrorObject = { code: string; message: string; status: number };

export async function openStore() {
  const service = await openService();
  const { key } = await service.createKey();

  const list = () => service.call(key, LIST);
  return {
    service,
    key,

    async insertOrder(id: string, columns: Record<string, string | number> = {}): Promise<void> {
      const names = Object.keys(columns);
      await service.db
        .prepare(`insert into orders (${["id", ...names].join()}) values (?${", ?".repeat(names.length)})`)
        .bind(id, ...Object.values(columns))
        .run();
    },

    async listText(): Promise<string> {
      return (await list()).text();
    },

    async listed(id: number): Promise<Order | undefined> {
      const orders = (await (await list()).json()) as Order[];
      return orders.find((order) => order.id === id);
    },

    cancel(id: string, sentKey: string | null = key, init: RequestInit = {}): Promise<Response> {
      return service.call(sentKey, `${LIST}/${id}`, { method: "DELETE", ...init });
    },
  };
}

export type Store = Awaited<ReturnType<typeof openStore>>;

/** The body. Throws if it is not an Error object: these three fields, no other, and the status of the response. */
export async function errorOf(response: Response): Promise<ErrorObject> {
  const body = (await response.json()) as ErrorObject;
  const fields = Object.entries(body).map(([name, value]) => `${name}: ${typeof value}`);
  if (
    fields.sort().join() !== "code: string,message: string,status: number" ||
    body.status !== response.status
  ) {
    throw new Error(`no Error object of ${response.status}: ${JSON.stringify(body)}`);
  }
  return body;
}

/** Sends bytes that fetch would refuse to send. */
export function sendRaw(url: URL, request: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let answer = "";
    const socket = connect(Number(url.port), url.hostname, () => socket.write(request));
    socket.setEncoding("utf8").on("data", (text) => {
      answer += text;
    });
    socket.on("error", reject).on("end", () => resolve(answer));
  });
}
