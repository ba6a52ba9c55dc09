/** A page between a form and its change says what the change would do. */
import type { Call } from "../../admin/call.ts";
import { type FormTarget, inputOfForm } from "./forms.ts";
import type { FormTexts } from "./members.ts";
import { type ConsoleContext, page } from "./page.tsx";

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

/**
 * Returns the page with the preview. Undefined: make the change, because the call has no preview, or the
 * preview sent the form. `back` is the page of the form.
 */
export async function previewOf(
  c: ConsoleContext,
  call: Pick<Call, "body" | "preview" | "summary">,
  typed: FormTexts,
  named: FormTarget,
  back: string,
): Promise<Response | undefined> {
  if (call.preview === undefined || typed.apply !== undefined) return undefined;
  const effects = await call.preview(inputOfForm(c, call, typed, named));
  return page(
    c,
    { title: call.summary },
    <div class="panel">
      <ul>
        {effects.map((effect) => (
          <li>{effect}</li>
        ))}
      </ul>
      <p class="muted">Nothing has changed yet.</p>
      <form method="post" action={c.req.path} class="row">
        <HiddenFields typed={{ ...typed, ...APPLY }} />
        <button type="submit" class="button primary">
          Apply
        </button>
        <a class="button" href={back}>
          Cancel
        </a>
      </form>
    </div>,
  );
}
