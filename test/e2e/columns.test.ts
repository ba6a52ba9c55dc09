/** A list of keys has the same columns on the page and in the command. */
import { beforeAll, describe, it } from "vitest";
import { KEY_COLUMNS, newKey } from "../../src/worker/admin/keys/schema.ts";
import { bodyOf } from "../support/bodies.ts";
import { runAdmin } from "../support/cli.ts";
import { ADMIN_TOKEN, LIST, openService, type Service } from "../support/service.ts";

const LABELS = KEY_COLUMNS.map(({ label }) => label);

let service: Service;

beforeAll(async () => {
  service = await openService();
  const { body } = await service.admin("POST", "/keys", bodyOf(newKey, 0));
  await service.call(body.key, LIST);
  await service.admin("PATCH", `/keys/${body.id}`, { disabled: true });
});

async function page(path: string): Promise<string> {
  const Origin = new URL(service.url).origin;
  const body = new URLSearchParams({ token: ADMIN_TOKEN });
  const init = { method: "POST", headers: { Origin }, body, redirect: "manual" } as const;
  const signedIn = await fetch(new URL("/console/sign-in", service.url), init);
  const Cookie = signedIn.headers.get("Set-Cookie")?.split(";")[0] ?? "";
  return (await fetch(new URL(path, service.url), { headers: { Cookie } })).text();
}

describe("a list of keys", () => {
  it("has these columns on the page", async ({ expect }) => {
    const html = await page("/console/keys");
    const heads = [...html.matchAll(/<th scope="col"[^>]*>(.*?)<\/th>/g)].map(([, head = ""]) =>
      head.replace(/<[^>]*>/g, ""),
    );
    expect(heads.filter((head) => head !== "14 days")).toEqual(LABELS);
  });

  it("has these columns in the command, beside the rights and the id", async ({ expect }) => {
    const env = { ADMIN_URL: service.url.href, ADMIN_TOKEN };
    const { out } = await runAdmin(["keys", "list"], env, { columns: Number.POSITIVE_INFINITY });
    const heads = out.split("\n")[0]?.split(/ {2,}/) ?? [];
    expect(heads.filter((head) => head !== "id").toSorted()).toEqual(
      LABELS.map((label) => label.toLowerCase()).toSorted(),
    );
  });
});
