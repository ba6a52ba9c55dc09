/** What an option of a command or a member of a call does not understand is an error: nothing is guessed. */
import type { Command, Option } from "commander";
import { beforeAll, describe, it } from "vitest";
import { createProgram } from "../../src/cli/run-cli.ts";
import { runAdmin } from "../support/cli.ts";
import { ADMIN_TOKEN, openService, type Service } from "../support/service.ts";

/** What takes any text of one line refuses a bell only. */
const ANY_TEXT = /^(search|ref|customer|into|actor|text|name|note|reason|file|load|batch|shipment)$/i;

function garbageFor(name: string): string {
  return ANY_TEXT.test(name) ? "gar\u0007bage" : "garbage";
}

/** wrangler reads the options of `backup`, and of a file any name can be meant. */
const OF_OTHERS = ["backup", "--file"];
/** Commands that need more than one option. */
const ALSO: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "keys create": { "--name": "n", "--plan": "free" },
  "keys limit": { "--per-day": "9", "--days": "1" },
  "keys plan": { "--plan": "free" },
  "bans set": { "--for": "1h", "--reason": "r" },
  "customers create": { "--name": "Bo" },
  "customers merge": { "--into": "Bo" },
  "links create": { "--customer": "Ada", "--days": "1" },
};

/** Arguments of commands that are no key. */
const SAMPLES: Readonly<Record<string, string>> = {
  customer: "Ada",
  order: "5",
  orders: "5",
  plan: "pro",
  file: "-",
  status: "shipped",
};

type Schema = { readonly properties?: object };
type Operation = {
  readonly parameters: readonly { readonly in?: string; readonly name: string }[];
  readonly requestBody?: { readonly content: Record<string, { example: object; schema: Schema }> };
};

let service: Service;
let keyId: string;

beforeAll(async () => {
  service = await openService();
  keyId = (await service.admin("POST", "/keys", { name: "k", plan: "free", customer: "Ada" })).body.id;
});

/** `service.admin` allows an error no `problems`. */
async function statusOf(method: string, path: string, body?: object): Promise<number> {
  const headers = { Authorization: `Bearer ${ADMIN_TOKEN}` };
  const url = new URL(`/admin${path}`, service.url);
  const sent = method === "GET" ? {} : { body: JSON.stringify(body) };
  return (await fetch(url, { method, headers, ...sent })).status;
}

describe("garbage", () => {
  it("in a member of a query or of a body is a 400", async ({ expect }) => {
    const { paths } = JSON.parse((await service.admin("GET", "/openapi.json")).text);
    const accepted: string[] = [];
    const members = { query: 0, body: 0 };
    for (const [path, methods] of Object.entries<Record<string, Operation>>(paths)) {
      const ofCustomer = path.replace("/customers/{id}", "/customers/Ada");
      const at = ofCustomer.replace("/admin", "").replaceAll(/\{\w+\}/g, keyId);
      for (const [name, { parameters, requestBody }] of Object.entries(methods)) {
        const method = name.toUpperCase();
        const { example = {}, schema } = requestBody?.content["application/json"] ?? {};
        const check = async (what: string, on: string, body: object) => {
          const status = await statusOf(method, on, body);
          if (status !== 400) accepted.push(`${method} ${path} ${what}: ${status}`);
        };
        for (const each of parameters.filter((one) => one.in === "query")) {
          members.query++;
          const query = `?${each.name}=${encodeURIComponent(garbageFor(each.name))}`;
          await check(query, at + query, example);
        }
        for (const member of Object.keys(schema?.properties ?? {})) {
          members.body++;
          for (const garbage of [garbageFor(member), { garbage: true }, [[]]])
            await check(member, at, { ...example, [member]: garbage });
        }
      }
    }
    expect(accepted).toEqual([]);
    expect(members.query).toBeGreaterThan(50);
    expect(members.body).toBeGreaterThan(20);
  });

  it("in an option of a command is an error of this option", async ({ expect }) => {
    const accepted: string[] = [];
    let options = 0;
    const refuse = async (line: readonly string[], { long, flags }: Option) => {
      options++;
      const argv = [...line, String(long), garbageFor(String(long).slice(2))];
      const env = { ADMIN_URL: service.url.href, ADMIN_TOKEN };
      const { code, err } = await runAdmin(argv, env, { input: "id\n5\n" });
      const isNamed = [...flags.matchAll(/--[\w-]+|$/g)].some(([flag]) => err.includes(flag || "garbage"));
      if (code === 0 || !isNamed) accepted.push(`${argv.join(" ")}: ${err}`);
    };
    const walk = async (command: Command, words: readonly string[]): Promise<void> => {
      for (const each of command.commands) await walk(each, [...words, each.name()]);
      if (command.commands.length > 0 || OF_OTHERS.includes(words[0] ?? "")) return;
      const yes = command.options.some(({ long }) => long === "--yes") ? ["--yes"] : [];
      for (const option of command.options) {
        if (!option.required || OF_OTHERS.includes(option.long ?? "")) continue;
        const also = Object.entries(ALSO[words.join(" ")] ?? {}).filter(
          ([flag]) => !option.flags.split(/[ ,]+/).includes(flag),
        );
        const isOfKeys = option.long === "--customer" && command.registeredArguments[0]?.variadic;
        const args = isOfKeys ? [] : command.registeredArguments.map((each) => SAMPLES[each.name()] ?? keyId);
        await refuse([...words, ...args, ...yes, ...also.flat()], option);
      }
    };
    const program = createProgram({ env: {} } as never, true, () => {}); // it is only read
    for (const option of program.options.filter(({ required }) => required))
      await refuse(["keys", "list"], option);
    await walk(program, []);
    expect(accepted).toEqual([]);
    expect(options).toBeGreaterThan(80);
  });
});
