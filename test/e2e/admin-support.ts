/** Shared by end-to-end tests: a client of the admin API over HTTP. */
import { ADMIN_TOKEN, type Service } from "../support/service.ts";

export type Answer = {
  status: number;
  headers: Headers;
  text: string;
  // Bodies have many shapes. Each test asserts the members that it reads.
  body: Record<string, unknown> & { id: string; key: string; message: string };
};

/** Calls /admin with the admin token. A string body is sent unchanged, anything else as JSON. */
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
