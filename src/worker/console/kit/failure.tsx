/** Shows the form of a refused change again, with the typed texts, beside the present state. */
import type { ContentfulStatusCode } from "hono/utils/http-status";
import { ERROR_STATUS } from "../../platform/error-codes.ts";
import { ApiError } from "../../platform/errors.ts";
import type { Problem } from "../../text/check-schema.ts";
import { changedIn, formOf } from "./forms.ts";
import { inWords } from "./labels.ts";
import type { FormTexts } from "./members.ts";
import type { ConsoleContext } from "./page.tsx";
import { Notice } from "./ui.tsx";

export type Failure = {
  readonly action: string;
  /** The fields whose text was changed. */
  readonly typed: FormTexts;
  readonly status: ContentfulStatusCode;
  readonly message: string;
  readonly problems: readonly Problem[];
};

const CHANGED_MEANWHILE =
  "This was changed meanwhile, perhaps by somebody else. The page shows the present state, and the form what you typed. Send it again to apply it.";

/** Answers a form with the result of `make`, or with the page that says what was refused. */
export async function answerForm<C extends ConsoleContext>(
  c: C,
  action: string,
  pageWith: (c: C, failure: Failure) => Response | Promise<Response>,
  make: (typed: FormTexts) => Promise<Response>,
): Promise<Response> {
  const typed = await formOf(c);
  try {
    return await make(typed);
  } catch (thrown) {
    return pageWith(c, failureOf(thrown, action, typed));
  }
}

/** Throws an error that is no answer to the typed texts. */
function failureOf(thrown: unknown, action: string, typed: FormTexts): Failure {
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
  if (failure === undefined) return null;
  return (
    <Notice kind={failure.status === 412 ? "warn" : "bad"}>
      <p>{failure.message}</p>
    </Notice>
  );
}
