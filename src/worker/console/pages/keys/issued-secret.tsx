/** Shows a new secret. The page reads nothing that can fail, because a lost secret cannot be shown again. */
import type * as v from "valibot";
import type { issuedKey } from "../../../admin/keys/schema.ts";
import type { Effective } from "../../../admin/refresh-limiters.ts";
import { sentenceOf } from "../../../text/says.ts";
import { type ConsoleContext, page } from "../../kit/page.tsx";
import { Notice } from "../../kit/ui.tsx";

export function secretPage(
  c: ConsoleContext,
  title: string,
  { id, name, key }: v.InferOutput<typeof issuedKey>,
  says: string,
  effective?: Effective,
) {
  return page(
    c,
    { title },
    <>
      <Notice kind="good">
        <p>
          <strong>The secret is shown once.</strong> Copy it now: the service stores only its hash.
        </p>
        <p class="secret">
          <code id="secret" tabindex={0}>
            {key}
          </code>
        </p>
        <button type="button" class="button" data-copy="secret" hidden>
          Copy
        </button>
      </Notice>
      <p>
        <a href={`/console/keys/${id}`}>{name}</a>
        {sentenceOf("", says, effective)}
      </p>
    </>,
  );
}
