/** What an operator can do to an object: each action has a form and a call, and an address below the object's page. */
import type { Context, Hono } from "hono";
import type { Child } from "hono/jsx";
import type * as v from "valibot";
import type { Call } from "../../admin/call.ts";
import { requireWriter } from "../../admin/sign-in/require-admin.ts";
import type { AppEnv } from "../../context.ts";
import type { ObjectSchema } from "../../text/check-schema.ts";
import { answerForm, type Failure, FailureNotice } from "./failure.tsx";
import { sendForm } from "./forms.ts";
import type { FormTexts } from "./members.ts";
import { type Preview, PreviewPanel, previewOf } from "./preview.tsx";
import { Basis, LinkButton, Submit } from "./ui.tsx";

export type Action<Shown, Given = unknown> = {
  readonly call: Call<ObjectSchema, ObjectSchema, v.GenericSchema, Given>;
  readonly title: string | ((shown: Shown) => string);
  /** What the button below the preview says that it does. Without it, nothing is asked. */
  readonly does?: (preview: Preview, shown: Shown) => string;
  /** The call may ask nothing, so the button of the form has the title, and not *Preview*. */
  readonly asksSometimes?: true;
  readonly isDangerous?: true;
  readonly isOffered?: (shown: Shown) => boolean;
  readonly form: (shown: Shown, texts: FormTexts, failure: Failure | undefined) => Child;
  /** Returns the texts that the fields show at first. */
  readonly texts?: (shown: Shown) => FormTexts;
  /** The form sends only fields whose text was changed. */
  readonly sendsChanges?: true;
  /** The members that a form without fields sends. */
  readonly sends?: FormTexts;
};

/** The last part of an action's address names it. A page shows the actions in this order. */
export type Actions<Shown, Given = unknown> = Readonly<Record<string, Action<Shown, Given>>>;

/** The actions that a page offers. */
export type Offered<Shown> = {
  readonly shown: Shown;
  readonly actions: readonly (readonly [name: string, action: Action<Shown>])[];
  /** The page. A GET of `address/name` shows the form, and a POST makes the change. */
  readonly address: string;
  readonly version: number;
};

export function offeredOf<Shown>(actions: Actions<Shown>, shown: Shown): Offered<Shown>["actions"] {
  return Object.entries(actions).filter(([, { isOffered }]) => isOffered?.(shown) ?? true);
}

export function titleOf<Shown>(shown: Shown, { title }: Pick<Action<Shown>, "title">): string {
  return typeof title === "string" ? title : title(shown);
}

export type ActionContext = Context<AppEnv, "/:id/:action?">;

/**
 * Adds the page of an object at `/:id`. A GET of `/:id/name` shows it with the form of an action, and a POST shows
 * what the action would do, or makes the change. `done` answers after the change.
 */
export function addActionPages<Shown, Given>(
  pages: Hono<AppEnv>,
  actions: Actions<Shown, Given>,
  show: (c: ActionContext, failure?: Failure) => Promise<Response>,
  done: (c: ActionContext, name: string, made: Given) => Response | Promise<Response>,
): void {
  pages.get("/:id", (c) => show(c));
  pages.get("/:id/:action", (c) => {
    requireWriter(c.var);
    return show(c);
  });
  for (const [name, { call, sends }] of Object.entries(actions)) {
    pages.post(`/:id/${name}`, (c: ActionContext) =>
      answerForm(c, name, show, async (typed) => {
        const sent = sends === undefined ? typed : { version: typed.version ?? "", ...sends };
        const named = { id: c.req.param("id"), partId: typed.secret ?? "" };
        return (await previewOf(c, call, sent, named)) ?? done(c, name, await sendForm(c, call, sent, named));
      }),
    );
  }
}

type Props<Shown> = { readonly of: Offered<Shown>; readonly open: string | undefined };

export function ActionLinks<Shown>({ of: { shown, actions, address }, open }: Props<Shown>) {
  return (
    <nav class="row" aria-label="Actions">
      {actions.map(([name, action]) => (
        <a
          href={`${address}/${name}`}
          class={action.isDangerous ? "button danger" : "button"}
          aria-current={name === open ? "true" : undefined}
        >
          {titleOf(shown, action)}
        </a>
      ))}
    </nav>
  );
}

type FormProps<Shown> = Props<Shown> & { readonly failure: Failure | undefined };

/** Shows the form of the open action, and moves the focus there. */
export function ActionForm<Shown>({ of, open, failure }: FormProps<Shown>) {
  const { shown, actions, address: back, version } = of;
  const [name, action] = actions.find(([each]) => each === open) ?? [];
  if (name === undefined || action === undefined) return <FailureNotice failure={failure} />;
  const title = titleOf(shown, action);
  const texts = action.texts?.(shown) ?? {};
  const { preview, problems = [] } = failure ?? {};
  const address = `${back}/${name}`;
  const isDangerous = action.isDangerous;
  const asksAlways = action.does !== undefined && !action.asksSometimes;
  // A form without fields does the same after a conflict.
  const isConflict = failure?.status === 412 && action.texts !== undefined;
  // A wrong field and the preview take the focus.
  const isFirst = preview === undefined && problems.every(({ member }) => member === null);
  const form = (
    <section class="panel" aria-label={title} tabindex={-1} autofocus={isFirst}>
      <h2>{title}</h2>
      <FailureNotice failure={failure} />
      <form method="post" action={address}>
        <Basis version={version} texts={action.sendsChanges ? texts : {}} />
        {action.form(shown, texts, failure)}
        <div class="row">
          <Submit tone={preview ? "" : isDangerous ? "danger" : "primary"}>
            {isConflict ? "Use mine" : asksAlways ? "Preview" : title}
          </Submit>
          <LinkButton href={back}>{isConflict ? "Keep theirs" : "Cancel"}</LinkButton>
        </div>
      </form>
    </section>
  );
  if (preview === undefined) return form;
  const button = action.does?.(preview, shown) ?? title;
  return (
    <div class="columns">
      {form}
      <PreviewPanel
        preview={preview}
        action={address}
        button={button}
        isDangerous={isDangerous}
        back={back}
      />
    </div>
  );
}
