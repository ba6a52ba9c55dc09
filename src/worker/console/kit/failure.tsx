/** Shows a form again that made no change, with the typed texts, beside the present state. */
import type { ContentfulStatusCode } from "hono/utils/http-status";
import { auditCalls } from "../../admin/audit/calls.ts";
import type { AuditView } from "../../admin/audit/schema.ts";
import { saysOf } from "../../admin/says.ts";
import { ERROR_STATUS } from "../../platform/error-codes.ts";
import { ApiError } from "../../platform/errors.ts";
import type { Problem } from "../../text/check-schema.ts";
import { membersOf, memberText, sentenceOf } from "../../text/says.ts";
import { parseRfc3339 } from "../../text/time.ts";
import { ask, changedIn, receiveForm, textsIn, tickedIn } from "./forms.ts";
import { inWords } from "./labels.ts";
import type { FormTexts } from "./members.ts";
import type { ConsoleContext } from "./page.tsx";
import type { Preview } from "./preview.tsx";
import { LinkButton, Notice, Relative, Submit } from "./ui.tsx";

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
  /** What others changed since the form was shown, the newest first. */
  readonly changes?: readonly AuditView[];
  readonly preview?: Preview;
};

const CHANGES_SHOWN = 5;
const CHANGED_MEANWHILE =
  "This was changed meanwhile. The page shows the present state, and the form has what you typed.";

/** Answers a form with the result of `make`, or with the page that shows the form again. */
export async function answerForm<C extends ConsoleContext>(
  c: C,
  action: string,
  pageWith: (c: C, failure: Failure) => Response | Promise<Response>,
  make: (typed: FormTexts) => Promise<Response | Preview>,
): Promise<Response> {
  let [typed, ticked]: [FormTexts, readonly string[]] = [{}, []];
  try {
    const form = await receiveForm(c);
    [typed, ticked] = [textsIn(form), tickedIn(form)];
    const made = await make(typed);
    if (made instanceof Response) return made;
    const asked = { action, typed: changedIn(typed), ticked, preview: made };
    return pageWith(c, { ...asked, status: 200, message: "", problems: [] });
  } catch (thrown) {
    const failure = failureOf(thrown, action, typed, ticked);
    return pageWith(c, failure.status === 412 ? await conflictIn(c, failure, typed) : failure);
  }
}

/** Throws an error that is no answer to the typed texts. */
function failureOf(thrown: unknown, action: string, typed: FormTexts, ticked: readonly string[]): Failure {
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

/** Adds what others changed since the form was shown, and marks the fields that were typed, too. */
async function conflictIn(c: ConsoleContext, failure: Failure, { seen }: FormTexts): Promise<Failure> {
  const object = c.req.param("id");
  if (object === undefined || seen === undefined || parseRfc3339(seen) === undefined) return failure;
  const query = { object, from: seen, limit: String(CHANGES_SHOWN) };
  const { audit } = await ask(c, auditCalls.list, query);
  const theirs = audit
    .toReversed()
    .flatMap(({ actor, after }) =>
      Object.entries(membersOf(after)).map(
        ([member, value]) => [member, `${actor} set this to ${memberText(member, value)}`] as const,
      ),
    );
  const problems = [...new Map(theirs)]
    .filter(([member]) => failure.typed[member] !== undefined)
    .map(([member, reason]) => ({ member, reason }));
  return { ...failure, changes: audit, problems };
}

export function FailureNotice({ failure }: { readonly failure: Failure | undefined }) {
  if (failure === undefined || failure.message === "") return null;
  return (
    <Notice kind={failure.status === 412 ? "warn" : "bad"}>
      <p>{failure.message}</p>
      {failure.changes?.map((change) => (
        <p>
          {change.actor}, <Relative iso={change.at} />: {sentenceOf(nounOf(change), saysOf(change))}
        </p>
      ))}
    </Notice>
  );
}

const NOUNS: Readonly<Record<string, string>> = {
  plans: "The plan",
  orders: "The order",
  customers: "The customer",
};

function nounOf({ call }: AuditView): string {
  const [noun = "keys"] = call.split(".");
  return NOUNS[noun] ?? "The key";
}

type ButtonProps = {
  readonly failure: Failure | undefined;
  /** The text of the button, unless somebody else has changed the object. */
  readonly children: string;
  readonly tone: "primary" | "danger" | "";
  /** The page without the form. Undefined: the form has no other page. */
  readonly back?: string | undefined;
  /** A form without fields does the same after a conflict. */
  readonly hasFields?: boolean;
};

/** After a conflict, the form is sent once more or left. */
export function FormButtons({ failure, children, tone, back, hasFields = true }: ButtonProps) {
  const isConflict = failure?.status === 412 && hasFields;
  return (
    <div class="row">
      <Submit tone={failure?.preview ? "" : tone}>{isConflict ? "Use mine" : children}</Submit>
      {back !== undefined && <LinkButton href={back}>{isConflict ? "Keep theirs" : "Cancel"}</LinkButton>}
    </div>
  );
}
