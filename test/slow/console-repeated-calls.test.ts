/** The console over a connection that ends before an answer: Chromium then sends the call again by itself, a POST too. */
import { once } from "node:events";
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import { buffer } from "node:stream/consumers";
import { afterAll, beforeAll, describe, it } from "vitest";
import { type Browser, findBrowser, openBrowser } from "../support/browser.ts";
import { confirm, openConsole } from "../support/console.ts";
import { openService, type Service } from "../support/service.ts";
import { freePort } from "../support/start.ts";

const executablePath = findBrowser();

let service: Service;
let browser: Browser;

beforeAll(async () => {
  service = await openService();
  if (executablePath !== undefined) browser = await openBrowser(executablePath);
});

afterAll(async () => {
  await browser?.close();
});

/** Passes requests on. The connection of the first one with this method is closed after the service has answered. */
async function openProxy(method: string) {
  const sent: string[] = [];
  const pass = async (incoming: IncomingMessage, response: ServerResponse) => {
    const body = await buffer(incoming);
    const target = new URL(incoming.url ?? "", service.url);
    const headers = { ...incoming.headers, host: target.host, "content-length": body.length };
    const outgoing = request(target.href, { method: incoming.method ?? "GET", headers }).end(body);
    // The event of this name has the response.
    const [answer] = (await once(outgoing, "response")) as [IncomingMessage];
    const content = await buffer(answer);
    if (incoming.method === method) sent.push(target.pathname);
    if (incoming.method === method && sent.length === 1) return incoming.socket.destroy();
    const { "transfer-encoding": _, ...passedOn } = answer.headers;
    return response.writeHead(answer.statusCode ?? 502, passedOn).end(content);
  };
  const server = createServer((incoming, response) => void pass(incoming, response));
  const port = await freePort();
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  const close = () => {
    server.close();
    server.closeAllConnections();
  };
  return { sent, through: { ...service, url: new URL(`http://127.0.0.1:${port}`) }, close };
}

const MADE = "The change was made by an earlier sending of this call, whose answer was lost.";

describe.skipIf(executablePath === undefined)("a call that the browser sends again", () => {
  it("makes no second key, and the page says that it was made", async ({ expect }) => {
    const { sent, through, close } = await openProxy("POST");
    const { page } = await openConsole(browser, through, "/console/keys/new");
    await page.getByLabel("Name", { exact: true }).fill("sent again");
    await page.getByRole("button", { name: "Create key" }).click();
    await page.getByRole("alert").getByText(MADE).waitFor();
    expect(sent).toEqual(["/admin/keys", "/admin/keys"]);
    const { body } = await service.admin("GET", "/keys?search=sent+again");
    expect(body.keys).toHaveLength(1);
    await page.close();
    close();
  });

  it("deletes an order once, and does not say that there was none", async ({ expect }) => {
    await service.db.exec("insert into orders (id, pet_id, quantity, status) values (981, 7, 1, 'pending')");
    const { sent, through, close } = await openProxy("DELETE");
    const { page } = await openConsole(browser, through, "/console/orders/981");
    await page.getByRole("button", { name: "Delete…" }).click();
    await confirm(page);
    await page.getByRole("dialog").getByText(MADE).waitFor();
    expect(sent).toHaveLength(2);
    await page.close();
    close();
  });
});
