/** Members of keys and customers: the same columns on the page and in the command, a field in the form, and a fact. */
import { beforeAll, it } from "vitest";
import { customerUpdate, newCustomer } from "../../src/worker/admin/customers/schema.ts";
import { KEY_COLUMNS, keyUpdate, newKey } from "../../src/worker/admin/keys/schema.ts";
import { bodyOf } from "../support/bodies.ts";
import { runAdmin } from "../support/cli.ts";
import { ADMIN_TOKEN, LIST, openService, type Service } from "../support/service.ts";

const LABELS = KEY_COLUMNS.map(({ label }) => label);

let service: Service;

beforeAll(async () => {
  service = await openService();
  const { body } = await service.admin("POST", "/keys", bodyOf(newKey, 0));
  await service.call(body.key, LIST);
  const changes = { disabled: true, plan: "business", planFrom: "tomorrow" };
  await service.admin("PATCH", `/keys/${body.id}`, changes);
});

async function page(path: string): Promise<string> {
  const Origin = new URL(service.url).origin;
  const body = new URLSearchParams({ token: ADMIN_TOKEN });
  const init = { method: "POST", headers: { Origin }, body, redirect: "manual" } as const;
  const signedIn = await fetch(new URL("/console/sign-in", service.url), init);
  const Cookie = signedIn.headers.get("Set-Cookie")?.split(";")[0] ?? "";
  return (await fetch(new URL(path, service.url), { headers: { Cookie } })).text();
}

const inside = (html: string, tag: string) =>
  [...html.matchAll(new RegExp(`<${tag}[ >].*?</${tag}>`, "gs"))].map(([part]) =>
    part.replace(/<[^>]*>/g, ""),
  );

it("the list of keys has these columns on the page", async ({ expect }) => {
  const [head = ""] = (await page("/console/keys")).split("</thead>");
  const heads = inside(head, "th");
  expect(heads.filter((head) => head !== "14 days")).toEqual(LABELS);
});

it("the list of keys has these columns in the command, beside the rights and the id", async ({ expect }) => {
  const env = { ADMIN_URL: service.url.href, ADMIN_TOKEN };
  const { out } = await runAdmin(["keys", "list"], env, { columns: Number.POSITIVE_INFINITY });
  const heads = out.split("\n")[0]?.split(/ {2,}/) ?? [];
  expect(heads.filter((head) => head !== "id").toSorted()).toEqual(
    LABELS.map((label) => label.toLowerCase()).toSorted(),
  );
});

it.for([
  ["keys", newKey, keyUpdate],
  ["customers", newCustomer, customerUpdate],
] as const)(
  "the page of one of the %s has a field for each member, and shows each text",
  async ([path, creation, update], { expect }) => {
    const { name, ...body } = bodyOf(creation, 7);
    const { id } = (await service.admin("POST", `/${path}`, { name, ...body })).body;
    const html = await page(`/console/${path}/${id}/edit`);
    const fields = Object.keys(update.entries).filter((member) => member !== "disabled"); // it has a button
    expect(fields.filter((member) => !html.includes(` name="${member}"`))).toEqual([]);
    const texts = Object.values(body).filter((value) => / 7$/.test(String(value)));
    expect(inside(html, "dd")).toEqual(expect.arrayContaining(texts));
  },
);
