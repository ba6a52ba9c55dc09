/** A change that was refused: its form is shown again, beside the present state and with what was typed. */
import type { ContentfulStatusCode } from "hono/utils/http-status";
import { ERROR_STATUS } from "../error-codes.ts";
import { ApiError } from "../errors.ts";
import { changedIn, formOf } from "./forms.ts";
import { inWords } from "./labels.ts";
import type { Typed } from "./members.ts";
import type { ConsoleContext } from "./page.tsx";
import { Notice } from "./ui.tsx";

export type Failure = {
  readonly action: string;
  /** Without what the form showed already. */
  readonly typed: Typed;
  readonly status: ContentfulStatusCode;
  readonly message: string;
};

const CHANGED_MEANWHILE =
  "This was changed meanwhile, perhaps by somebody else. The page shows the present state, and the form what you typed. Send it again to apply it.";

/** The answer to a form: what `make` leads to, or the page with what was refused. */
export async function answerForm<C extends ConsoleContext>(
  c: C,
  action: string,
  pageWith: (c: C, failure: Failure) => Response | Promise<Response>,
  make: (typed: Typed) => Promise<Response>,
): Promise<Response> {
  const typed = await formOf(c);
  try {
    return await make(typed);
  } catch (thrown) {
    return pageWith(c, failureOf(thrown, action, typed));
  }
}

/** Throws what is no answer to what was typed. */
function failureOf(thrown: unknown, action: string, typed: Typed): Failure {
  if (!(thrown instanceof ApiError)) throw thrown;
  const status = ERROR_STATUS[thrown.code];
  if (status !== 400 && status !== 409 && status !== 412) throw thrown;
  return {
    action,
    typed: changedIn(typed),
    status,
    message: status === 412 ? CHANGED_MEANWHILE : inWords(thrown.message),
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
