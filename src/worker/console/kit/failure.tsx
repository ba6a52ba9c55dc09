/** Shows a form again that made no change, with the typed texts, beside the present state. */
import type { ContentfulStatusCode } from "hono/utils/http-status";
import { ERROR_STATUS } from "../../platform/error-codes.ts";
import { ApiError } from "../../platform/errors.ts";
import type { Problem } from "../../text/check-schema.ts";
import { changedIn, receiveForm, textsIn, tickedIn } from "./forms.ts";
import { inWords } from "./labels.ts";
import type { FormTexts } from "./members.ts";
import type { ConsoleContext } from "./page.tsx";
import type { Preview } from "./preview.tsx";
import { Notice } from "./ui.tsx";

/** Why the form made no change: it was refused, or asked for the preview. */
export type Failure = {
  readonly action: string;
  /** The fields whose text was changed. */
  readonly typed: FormTexts;
  /** The rows of a list that were ticked. */
  readonly ticked: readonly string[];
  readonly status: ContentfulStatusCode;
  readonly message: string;
  readonly problems: readonly Problem[];
  readonly preview?: Preview;
};

const CHANGED_MEANWHILE =
  "This was changed meanwhile. The page shows the present state, and the form has what you typed.";

/** Answers a form with the result of `make`, or with the page that shows the form again. */
export async function answerForm<C extends ConsoleContext>(
  c: C,
  action: string,
  pageWith: (c: C, failure: Failure) => Response | Promise<Response>,
  make: (typed: FormTexts, ticked: readonly string[]) => Promise<Response | Preview>,
): Promise<Response> {
  let [typed, ticked]: [FormTexts, readonly string[]] = [{}, []];
  try {
    const form = await receiveForm(c);
    [typed, ticked] = [textsIn(form), tickedIn(form)];
    const made = await make(typed, ticked);
    if (made instanceof Response) return made;
    const asked = { action, typed: changedIn(typed), ticked, preview: made };
    return pageWith(c, { ...asked, status: 200, message: "", problems: [] });
  } catch (thrown) {
    return pageWith(c, failureOf(thrown, action, typed, ticked));
  }
}

/** Throws an error that is no answer to the typed texts. */
export function failureOf(
  thrown: unknown,
  action: string,
  typed: FormTexts,
  ticked: readonly string[],
): Failure {
  if (!(thrown instanceof ApiError)) throw thrown;
  const status = ERROR_STATUS[thrown.code];
  if (status !== 400 && status !== 409 && status !== 412) throw thrown;
  return {
    action,
    typed: changedIn(typed),
    ticked,
    status,
    message: status === 412 ? CHANGED_MEANWHILE : inWords(thrown),
    problems: thrown.problems,
  };
}

export function FailureNotice({ failure }: { readonly failure: Failure | undefined }) {
  if (failure === undefined || failure.message === "") return null;
  return (
    <Notice kind={failure.status === 412 ? "warn" : "bad"}>
      <p>{failure.message}</p>
    </Notice>
  );
}
