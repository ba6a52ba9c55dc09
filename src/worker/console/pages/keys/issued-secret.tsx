/** Shows a new secret. The page reads nothing that can fail, because a lost secret cannot be shown again. */
import type { Child } from "hono/jsx";
import type * as v from "valibot";
import type { issuedKey } from "../../../admin/keys/schema.ts";
import { limitsInWords } from "../../../admin/plans/schema.ts";
import { RIGHTS } from "../../../admin/says.ts";
import { urlOf } from "../../../platform/request-url.ts";
import { formatTime } from "../../../text/format.ts";
import { type ConsoleContext, page } from "../../kit/page.tsx";
import { Copy, Notice, ShownOnce } from "../../kit/ui.tsx";

type IssuedKey = v.InferOutput<typeof issuedKey>;

type Issued = {
  readonly title: string;
  readonly made: IssuedKey;
  /** When the secrets before this one end. Undefined: there are none. */
  readonly oldSecretsEnd?: string | undefined;
  /** The form of another key for the customer. */
  readonly next?: Child;
};

export function secretPage(c: ConsoleContext, { title, made, oldSecretsEnd, next }: Issued) {
  const { id, name, key, customer } = made;
  const oldOnesWork = oldSecretsEnd !== undefined && Date.parse(oldSecretsEnd) > Date.now();
  return page(
    c,
    { title },
    <>
      <Notice kind="good">
        <p>
          <strong>The secret is shown once.</strong> Copy it now: the service stores only its hash.
        </p>
        <ShownOnce text={key} />
      </Notice>
      <p>
        <a href={`/console/keys/${id}`}>{name}</a>
        {made.says.slice(name.length)}
        {oldOnesWork && (
          <>
            {" "}
            <a href={`/console/keys/${id}/end-secret`}>End the old secret earlier</a>
          </>
        )}
      </p>
      <section>
        <div class="section-head">
          <h2>A text to send</h2>
          <Copy of="letter" label="Copy the text" />
        </div>
        <p class="hint">Without the secret: send that another way, as with a password manager.</p>
        <pre id="letter">{letterAbout(made, urlOf(c.req.raw).origin, oldSecretsEnd, oldOnesWork)}</pre>
      </section>
      {next !== undefined && (
        <section>
          <h2>Another key{customer !== null && ` for ${customer.name}`}</h2>
          {next}
        </section>
      )}
    </>,
  );
}

/** What the customer must know to use the secret. */
function letterAbout(
  { name, limits, mayCancel, expiresAt }: IssuedKey,
  origin: string,
  oldSecretsEnd: string | undefined,
  oldOnesWork: boolean,
): string {
  const isNew = oldSecretsEnd === undefined;
  const lines = [
    `Your key "${name}" for the Store Orders API ${isNew ? "is ready" : "has a new secret"}. You get the secret separately.`,
    ...(isNew
      ? []
      : [`The old secret ${oldOnesWork ? `works until ${formatTime(oldSecretsEnd)}` : "no longer works"}.`]),
    "",
    `Limits: ${limitsInWords(limits)} (UTC)`,
    `Rights: ${RIGHTS[`${mayCancel}`]}`,
    ...(expiresAt === null ? [] : [`Expires: ${formatTime(expiresAt)}`]),
    `Documentation: ${origin}/docs`,
    "",
    "Send the secret in a header of each request:",
    `curl --fail -H "Authorization: Bearer $SECRET" ${origin}/v1/store/orders`,
    "",
    "Whoever has the secret can use the key: keep it out of addresses, code and mails.",
  ];
  return lines.join("\n");
}
