/** The page that loads a file of orders, and its downloads. */
import { env } from "cloudflare:workers";
import { describe, it } from "vitest";
import { newOrderId } from "../../support/factories.ts";
import { browserWith } from "./browser.ts";

/** UTF-16 as Excel saves "Unicode text"; big-endian, as other programs do. */
function utf16(text: string, isLittleEndian: boolean): Uint8Array<ArrayBuffer> {
  const view = new DataView(new ArrayBuffer(2 * text.length));
  for (let i = 0; i < text.length; i++) view.setUint16(2 * i, text.charCodeAt(i), isLittleEndian);
  return new Uint8Array(view.buffer);
}

/** What a browser saves for the link with this name. */
function downloadIn(page: string, file: string): string {
  const [, address = ""] =
    new RegExp(`download="${file}" href="data:text/csv;charset=utf-8,([^"]*)"`).exec(page) ?? [];
  return decodeURIComponent(address);
}

describe("the page that loads orders", () => {
  it("offers a template, which can be loaded", async ({ expect }) => {
    const { get } = await browserWith(env.ADMIN_TOKEN);
    const page = await (await get("/console/orders/load")).text();
    expect(downloadIn(page, "orders.csv")).toBe("\ufeffid,petId,quantity,shipDate,complete,status\r\n");
  });

  it.for([true, false])(
    "loads UTF-16, and offers the wrong lines: little-endian %s",
    async (isLittle, { expect }) => {
      const { post } = await browserWith(env.ADMIN_TOKEN);
      const id = newOrderId();
      const text = `\ufeffid\tpetId\tstatus\r\n${id}\t9223372036854775807\tshipped\r\nx\t1\t\r\n`;
      const load = async (fields: Record<string, string>, bytes: Uint8Array<ArrayBuffer>) => {
        const form = new FormData();
        form.set("file", new File([bytes], "orders.txt"));
        for (const [name, value] of Object.entries(fields)) form.set(name, value);
        return (await post("/console/orders/load", form)).text();
      };
      const status = () => env.DB.prepare("select status from orders where id = ?").bind(id).first("status");

      const dryRun = await load({ "dry-run": "true" }, utf16(text, isLittle));
      expect(dryRun).toContain("Dry run: nothing was stored. Would be loaded: 1 inserted");
      expect(await status()).toBeNull();
      const page = await load({}, utf16(text, isLittle));
      expect(page).toContain("Loaded: 1 inserted, 0 updated, 0 unchanged");
      const reason = "id: must be a whole number of 64 bits, in digits";
      expect(downloadIn(page, "refused-lines.csv")).toBe(
        `\ufeffline,reason,text\r\n3,"${reason}","x\t1\t"\r\n`,
      );

      const old = utf16(`id,status\r\n${id},pending\r\n`, isLittle);
      expect(await load({}, old)).toContain("The status of 1 order would have gone back, and was kept.");
      expect(await status()).toBe("shipped");
      expect(await load({ "allow-backwards": "true" }, old)).toContain("1 updated");
      expect(await status()).toBe("pending");
    },
  );
});
