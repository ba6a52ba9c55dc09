/** What a change would do, on a page between the form that asks for the change and the change. */
import type { Call } from "../admin/call.ts";
import { inputOfForm, type Named } from "./forms.ts";
import type { Typed } from "./members.ts";
import { type ConsoleContext, page } from "./page.tsx";

/** The fields of a form that is sent without being filled in. */
export function HiddenFields({ typed }: { readonly typed: Typed }) {
  return (
    <>
      {Object.entries(typed).map(([name, text]) => (
        <input type="hidden" name={name} value={text} />
      ))}
    </>
  );
}

/** The field of a form whose change was seen before. */
export const APPLY: Typed = { apply: "true" };

/**
 * Undefined if the change is to be made: its call has no preview, or the preview sent the form. `back` is the
 * page of the form.
 */
export async function previewOf(
  c: ConsoleContext,
  call: Pick<Call, "body" | "preview" | "summary">,
  typed: Typed,
  named: Named,
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
      <form method="post" action={c.req.path} class="button-row">
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
