/** `keys rotate` and `keys retire`: a new secret for a key, and the end of an old one. */
import { type Command, InvalidArgumentError } from "commander";
import { idInPath, secondsOrZero } from "./arguments.ts";
import { confirm, YES } from "./confirm.ts";
import {
  changedKeyShape,
  describeChanged,
  type Key,
  keyShape,
  nameOf,
  rotatedKeyShape,
  secretOf,
} from "./key-text.ts";
import { bodyOf, type Session, show } from "./session.ts";

/** The key that a question names, so that a wrong id is noticed. */
export function keyOf({ client, access }: Session, id: string): Promise<Key> {
  return bodyOf(access, client.keys[":id"].$get({ param: { id } }), keyShape);
}

export function addRotate(keys: Command, session: () => Session): void {
  keys
    .command("rotate")
    .argument("<id>", "the key", idInPath)
    .description("add a new secret to the key, which is shown once; quota and bans stay")
    .requiredOption(
      "--grace <duration>",
      "how long the old secret stays valid, as in 24h; 0: not at all",
      secondsOrZero,
    )
    .option(...YES)
    .action(async (id: string, { grace, yes = false }: { grace: number; yes?: boolean }) => {
      const question = async () =>
        `${nameOf(await keyOf(session(), id))}: its current secrets stop working at once.`;
      await confirm(session(), { yes: yes || grace > 0 }, question);
      await show(
        session(),
        session().client.keys[":id"].rotate.$post({ param: { id }, json: { graceSeconds: grace } }),
        rotatedKeyShape,
        (key) => `${describeChanged(key)}\n\n${secretOf(key)}`,
      );
    });
}

export function addRetire(keys: Command, session: () => Session): void {
  keys
    .command("retire")
    .argument("<id>", "the key", idInPath)
    .argument("<secret>", "the id of the secret, as `keys show` prints it", secretId)
    .description("refuse one of its secrets from now on; its other secrets stay valid until they end")
    .option(...YES)
    .action(async (id: string, secret: string, options: { yes?: boolean }) => {
      const question = async () => {
        const key = await keyOf(session(), id);
        const hint = key.secrets.find((each) => each.id === secret)?.hint ?? "unknown";
        return `${nameOf(key)}: its secret ${secret} (${hint}) stops working at once.`;
      };
      await confirm(session(), options, question);
      const param = { id, secretId: secret };
      await show(
        session(),
        session().client.keys[":id"].secrets[":secretId"].$delete({ param }),
        changedKeyShape,
        describeChanged,
      );
    });
}

/** A secret itself must not get into a path. */
function secretId(text: string): string {
  if (!/^[0-9a-f]{16}$/.test(text))
    throw new InvalidArgumentError("Use the id of a secret, as keys show prints it.");
  return text;
}
