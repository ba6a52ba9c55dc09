/** A panel beside a form says what the change would do. */

import type { PropsWithChildren } from "hono/jsx";
import type { Call } from "../../admin/call.ts";
import { type Members, membersOf } from "../../text/says.ts";
import { type FormTarget, inputOfForm } from "./forms.ts";
import type { FormTexts } from "./members.ts";
import type { ConsoleContext } from "./page.tsx";
import { LinkButton, Submit } from "./ui.tsx";

export type Preview = {
  readonly effects: readonly string[];
  /** The form as it was sent. */
  readonly sent: FormTexts;
  /** The members that the change would send. */
  readonly body: Members;
};

/** The fields of a form that is sent without being filled in. */
export function HiddenFields({ typed }: { readonly typed: FormTexts }) {
  return (
    <>
      {Object.entries(typed).map(([name, text]) => (
        <input type="hidden" name={name} value={text} />
      ))}
    </>
  );
}

/** A form with this field makes its change without a preview. */
export const APPLY: FormTexts = { apply: "true" };

/** Undefined: make the change, because the call has nothing to ask, or the preview sent the form. */
export async function previewOf(
  c: ConsoleContext,
  call: Pick<Call, "body" | "preview">,
  sent: FormTexts,
  named: FormTarget,
): Promise<Preview | undefined> {
  if (call.preview === undefined || sent.apply !== undefined) return undefined;
  const input = inputOfForm(c, call, sent, named);
  const effects = await call.preview(input);
  return effects.length === 0 ? undefined : { effects, sent, body: membersOf(input.body) };
}

type Props = {
  readonly preview: Preview | undefined;
  /** Where the form is sent. */
  readonly action: string;
  /** What the button says that it does. */
  readonly button: string;
  readonly isDangerous?: boolean | undefined;
  /** The page without the form. */
  readonly back: string;
};

/** The children are fields of the form that makes the change. */
export function PreviewPanel({
  preview,
  action,
  button,
  isDangerous,
  back,
  children,
}: PropsWithChildren<Props>) {
  if (preview === undefined) return null;
  return (
    <section class="panel" aria-label="Preview" tabindex={-1} autofocus>
      <h2>Preview</h2>
      <ul>
        {preview.effects.map((effect) => (
          <li>{effect}</li>
        ))}
      </ul>
      <p class="muted">Nothing has changed yet.</p>
      <form method="post" action={action} class="row">
        <HiddenFields typed={{ ...preview.sent, ...APPLY }} />
        {children}
        <Submit tone={isDangerous ? "danger" : "primary"}>{button}</Submit>
        <LinkButton href={back}>Cancel</LinkButton>
      </form>
    </section>
  );
}
