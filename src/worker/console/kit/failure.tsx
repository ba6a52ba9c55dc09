/** Shows a form again that made no change, with the typed texts, beside the present state. */
import type { ContentfulStatusCode } from "hono/utils/http-status";
import { ERROR_STATUS } from "../../platform/error-codes.ts";
import { ApiError } from "../../platform/errors.ts";
import type { Problem } from "../../text/check-schema.ts";
import { changedIn, formOf, KeptForm } from "./forms.ts";
import { inWords } from "./labels.ts";
import type { FormTexts } from "./members.ts";
import type { ConsoleContext } from "./page.tsx";
import type { Preview } from "./preview.tsx";
import { Notice } from "./ui.tsx";

/** Why the form made no change: it was refused, came without a session, or asked for the preview. */
export type Failure = {
  readonly action: string;
  /** The fields whose text was changed. */
  readonly typed: FormTexts;
  readonly status: ContentfulStatusCode;
  readonly message: string;
  readonly problems: readonly Problem[];
  /** The version that a form without a session had: what others changed since is a conflict. */
  readonly version?: string | undefined;
  readonly preview?: Preview;
};

/** Nothing was refused. */
const SHOWN_AGAIN = { status: 200, message: "", problems: [] } as const;
const SIGNED_IN_AGAIN =
  "You are signed in again. Nothing was changed: the form has what you typed. Send it once more.";

const CHANGED_MEANWHILE =
  "This was changed meanwhile, perhaps by somebody else. The page shows the present state, and the form what you typed. Send it again to apply it.";

/** Answers a form with the result of `make`, or with the page that shows the form again. */
export async function answerForm<C extends ConsoleContext>(
  c: C,
  action: string,
  pageWith: (c: C, failure: Failure) => Response | Promise<Response>,
  make: (typed: FormTexts) => Promise<Response | Preview>,
): Promise<Response> {
  let typed: FormTexts = {};
  try {
    typed = await formOf(c);
    const made = await make(typed);
    if (made instanceof Response) return made;
    return pageWith(c, { ...SHOWN_AGAIN, action, typed: changedIn(typed), preview: made });
  } catch (thrown) {
    return pageWith(c, failureOf(thrown, action, typed));
  }
}

/** Throws an error that is no answer to the typed texts. */
function failureOf(thrown: unknown, action: string, typed: FormTexts): Failure {
  if (thrown instanceof KeptForm) {
    const { version } = thrown.typed;
    return { ...SHOWN_AGAIN, action, typed: changedIn(thrown.typed), message: SIGNED_IN_AGAIN, version };
  }
  if (!(thrown instanceof ApiError)) throw thrown;
  const status = ERROR_STATUS[thrown.code];
  if (status !== 400 && status !== 409 && status !== 412) throw thrown;
  return {
    action,
    typed: changedIn(typed),
    status,
    message: status === 412 ? CHANGED_MEANWHILE : inWords(thrown),
    problems: thrown.problems,
  };
}

export function FailureNotice({ failure }: { readonly failure: Failure | undefined }) {
  if (failure === undefined || failure.message === "") return null;
  return (
    <Notice kind={failure.status === 412 || failure.status === 200 ? "warn" : "bad"}>
      <p>{failure.message}</p>
    </Notice>
  );
}
