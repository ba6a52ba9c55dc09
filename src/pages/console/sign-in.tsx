/** The sign-in page. It appears at any address of the console, which is shown after the sign-in. */
import { useEffect, useState } from "preact/hooks";
import { adminClient, jsonOf } from "./admin-client.ts";
import type { ChangeUnderWay } from "./admin-context.ts";
import { InputField } from "./components/field.tsx";
import { ProblemNotice } from "./components/notices.tsx";
import { asProblem, Problem, problemOf } from "./problem.ts";
import type { Session } from "./session.ts";

/** How the last session ended. */
export type SignedOut = {
  readonly refusal: Problem | undefined;
  /** The changes of which the console did not get the end. */
  readonly unfinished: readonly ChangeUnderWay[];
};

type Props = { readonly signedOut: SignedOut | undefined; readonly onSignIn: (session: Session) => void };

export function SignIn({ signedOut, onSignIn }: Props) {
  const [token, setToken] = useState("");
  const [operator, setOperator] = useState("");
  const [problem, setProblem] = useState(signedOut?.refusal);
  const [isChecking, setIsChecking] = useState(false);
  useEffect(() => {
    document.title = "Sign in – Store Orders console";
  }, []);

  const signIn = async (session: Session) => {
    if (isChecking) return;
    setIsChecking(true);
    setProblem(undefined);
    try {
      await check(session);
      onSignIn(session);
    } catch (thrown) {
      setProblem(asProblem(thrown));
      setIsChecking(false);
    }
  };
  return (
    <main class="sign-in">
      <h1>Store Orders console</h1>
      <form
        class="panel"
        aria-label="Sign in"
        onSubmit={(event) => {
          event.preventDefault();
          void signIn({ token: token.trim(), operator: operator.trim() });
        }}
      >
        <InputField
          label="Admin token"
          hint="The value of the secret ADMIN_TOKEN; for a local instance it is in .dev.vars. It is kept for this tab until you sign out."
          type="password"
          autocomplete="off"
          spellcheck={false}
          required
          value={token}
          onInput={setToken}
        />
        <InputField
          label="Your name (optional)"
          hint="For the audit log. It informs people and proves nothing."
          autocomplete="nickname"
          pattern="[\w.@ \-]{1,64}"
          title="At most 64 letters of English, digits, blanks and . @ - _"
          value={operator}
          onInput={setOperator}
        />
        {signedOut && signedOut.unfinished.length > 0 && (
          <ProblemNotice problem={notFinished(signedOut.unfinished)} />
        )}
        {problem && <ProblemNotice problem={problem} />}
        <div class="actions">
          <button type="submit" class="button primary" aria-disabled={isChecking}>
            Sign in
          </button>
          <button
            type="button"
            class="button"
            aria-disabled={isChecking}
            onClick={() => void signIn({ token: "", operator: "" })}
          >
            Use Cloudflare Access
          </button>
        </div>
      </form>
    </main>
  );
}

/** Asks for something small. A header can carry only some characters, so other tokens are refused without a call. */
async function check(session: Session): Promise<void> {
  if (!/^[\x21-\x7e]*$/.test(session.token)) throw problemOf(401, "");
  try {
    await jsonOf(adminClient(session).plans.$get(), "plans");
  } catch (thrown) {
    const isRefused = thrown instanceof Problem && thrown.kind === "unauthorized";
    throw isRefused ? refusalOf(session) : thrown;
  }
}

/** Says why the service answered 401. */
export function refusalOf({ token }: Session): Problem {
  return token === "" ? NOT_PROVEN : problemOf(401, "");
}

const NOT_PROVEN = new Problem(
  "unauthorized",
  "Cloudflare Access does not say who you are.",
  "Open the console at the address that Access protects, or sign in with the admin token.",
);

function notFinished(changes: readonly ChangeUnderWay[]): Problem {
  const names = changes.map(({ name }) => name).join("; ");
  const isUnseen = changes.some(({ makesSecret }) => makesSecret);
  return new Problem(
    "failed",
    `Not finished at the sign-out: ${names}.`,
    `All or a part of it may be done: look after the sign-in.${isUnseen ? " A new secret was not shown: rotate the key." : ""}`,
  );
}
