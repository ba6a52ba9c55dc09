/** What the operator's end-to-end tests share: speaking to /admin over HTTP. */
import { ADMIN_TOKEN, type Service } from "../support/service.ts";

export type Answer = {
  status: number;
  headers: Headers;
  text: string;
  // Bodies of every shape: what a test expects of one is what it tests.
  body: Record<string, unknown> & { id: string; key: string; message: string };
};

/** Speaks to /admin with the token. A string is sent as it is, anything else as JSON. */
export function operatorOf(service: Service) {
  return async (method: string, path: string, body?: unknown): Promise<Answer> => {
    const response = await service.call(ADMIN_TOKEN, `/admin${path}`, {
      method,
      ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, text, body: JSON.parse(text) };
  };
}

export type Operator = ReturnType<typeof operatorOf>;
