/** The console without a browser: pages are fetched, and forms are sent. */
import { env } from "cloudflare:workers";
import type { Bindings } from "../../../src/worker/context.ts";
import { setClock, startApp } from "../../support/worker.ts";

export const READ_TOKEN = "a-token-that-only-reads-for-the-tests";

/** One that has signed in with the token. */
export async function browserWith(token: string, replaced: Partial<Bindings> = {}, operator = "jo") {
  const app = startApp({ ADMIN_READ_TOKEN: READ_TOKEN, ...replaced });
  const origin = { Origin: "https://orders.example" };
  const post = async (path: string, fields: Record<string, string> | FormData, headers: HeadersInit) =>
    app(path, {
      method: "POST",
      body: fields instanceof FormData ? fields : new URLSearchParams(fields),
      headers: { ...origin, ...headers },
      redirect: "manual",
    });
  const signedIn = await post("/console/sign-in", { token, operator }, {});
  const cookie = (signedIn.headers.get("Set-Cookie") ?? "").split(";")[0] ?? "";
  return {
    cookie,
    get: (path: string) => app(path, { headers: { Cookie: cookie } }),
    post: (path: string, fields: Record<string, string> | FormData = {}, headers: HeadersInit = {}) =>
      post(path, fields, { Cookie: cookie, ...headers }),
  };
}

/** The form of a page whose button has this text: where it is sent, and its fields as they are. */
export function formOn(html: string, button: string) {
  const form = html.split("<form").find((part) => part.split("</form>")[0]?.includes(`>${button}</button>`));
  const attribute = (tag: string, name: string) => unescaped(new RegExp(` ${name}="([^"]*)"`).exec(tag)?.[1]);
  const inputs = [...(form?.split("</form>")[0] ?? "").matchAll(/<input [^>]*>/g)];
  const fields = inputs.map(([tag]) => [attribute(tag, "name"), attribute(tag, "value")]);
  return {
    path: attribute(form ?? "", "action"),
    fields: Object.fromEntries(fields) as Record<string, string>,
  };
}

export function unescaped(text = ""): string {
  const marks: Record<string, string> = { amp: "&", quot: '"', lt: "<", gt: ">", "#39": "'" };
  return text.replaceAll(/&(#?\w+);/g, (_, name: string) => marks[name] ?? "");
}

/** D1's clock ends the secrets, and goes on. */
export async function setClockToD1() {
  setClock(Number(await env.DB.prepare("select unixepoch() * 1000 as now").first("now")) + 60_000);
}
