/** The frame of the console's pages. */

import type { Context } from "hono";
import { html } from "hono/html";
import type { Child, PropsWithChildren } from "hono/jsx";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import type { AppEnv } from "../../context.ts";
import { ERROR_STATUS } from "../../platform/error-codes.ts";
import type { ApiError } from "../../platform/errors.ts";
import { settingsOf } from "../../platform/settings.ts";
import { inWords } from "./labels.ts";

export type ConsoleContext = Context<AppEnv>;

const FIND = "/console/find";

/** The parameter with which a page asks again for a part of itself. That keeps no session alive. */
export const LIVE = "live";

const SECTIONS = [
  ["/console", "Overview"],
  ["/console/keys", "Keys"],
  ["/console/customers", "Customers"],
  ["/console/usage", "Usage"],
  ["/console/orders", "Orders"],
  ["/console/plans", "Plans"],
  ["/console/audit", "Audit"],
  ["/console/alerts", "Alerts"],
] as const;

type Frame = {
  readonly title: string;
  readonly actions?: Child;
  readonly status?: ContentfulStatusCode;
};

/** Returns the address of a document of docs/ in the project's repository, as of `runbook.md#symptoms`. */
export function docsUrl(document: `${string}.md` | `${string}.md#${string}`): string {
  return `https://github.com/store-orders/store-orders/blob/main/docs/${document}`;
}

/** Renders a page for a signed-in operator. */
export function page(c: ConsoleContext, { title, actions, status = 200 }: Frame, content: Child) {
  const body = (
    <Document title={title} environment={environmentOf(c)}>
      <header class="bar">
        <Brand />
        <nav aria-label="Console">
          <ul>
            {SECTIONS.map(([href, name]) => (
              <li>
                <a href={href} aria-current={isCurrent(c.req.path, href) ? "page" : undefined}>
                  {name}
                </a>
              </li>
            ))}
          </ul>
        </nav>
        <a class="button small" href={FIND} title="By a text or a secret: /">
          Find
        </a>
        <Environment name={environmentOf(c)} />
        <form method="post" action="/console/sign-out">
          <button type="submit" class="button small">
            Sign out
          </button>
        </form>
      </header>
      <main id="main" tabindex={-1}>
        <div class="page-head">
          <h1>{title}</h1>
          {actions}
        </div>
        {content}
      </main>
      <footer>
        <a href={docsUrl("operate.md")}>Operate</a>
        <a href={docsUrl("runbook.md")}>Runbook</a>
        <a href="/docs/admin">API reference</a>
        <a href="/console/sessions">Sessions</a>
        <p class="signed-in">
          Signed in: <b>{c.var.author.actor}</b> {c.var.mayOnlyRead && <b>read only</b>}
        </p>
      </footer>
    </Document>
  );
  return c.html(html`<!doctype html>${body}`, status);
}

/** Pages without navigation belong to a site, which has its own copy of the styles and scripts. */
const SITES = {
  "/console": "The console for the operators of this API: keys, limits, bans, usage and orders.",
  "/owner": "Your keys of this API.",
} as const;

/** Renders a page without navigation, such as the page for signing in. */
export function barePage(
  c: ConsoleContext,
  { title, status = 200 }: Frame,
  content: Child,
  site: keyof typeof SITES = "/console",
) {
  const body = (
    <Document title={title} environment={environmentOf(c)} site={site}>
      <main id="main" class={`bare ${site.slice(1)}`} tabindex={-1}>
        <p class="row">
          <Brand site={site} />
          <Environment name={environmentOf(c)} />
        </p>
        <p class="muted">{SITES[site]}</p>
        <h1>{title}</h1>
        {content}
      </main>
    </Document>
  );
  return c.html(html`<!doctype html>${body}`, status);
}

function Brand({ site = "/console" }: { readonly site?: keyof typeof SITES }) {
  return (
    <a class="brand" href={site}>
      <img src="/docs/icon.svg" alt="" width="24" height="24" /> <span>Store Orders</span>
    </a>
  );
}

type Environment = string | undefined;

/** The name tells staging from production, which look the same. */
function environmentOf(c: ConsoleContext): Environment {
  return settingsOf(c.env).environmentName;
}

function Environment({ name }: { readonly name: Environment }) {
  return name === undefined ? null : <b class={name === "production" ? "badge bad" : "badge"}>{name}</b>;
}

function isCurrent(path: string, href: string): boolean {
  return path === href || (href !== "/console" && path.startsWith(`${href}/`));
}

type DocumentProps = PropsWithChildren<{
  readonly title: string;
  readonly environment: Environment;
  readonly site?: keyof typeof SITES;
}>;

function Document({ title, environment, site = "/console", children }: DocumentProps) {
  return (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta name="robots" content="noindex" />
        <title>{[title, "Store Orders", environment].filter((part) => part !== undefined).join(" · ")}</title>
        <link rel="icon" href="/docs/icon.svg" type="image/svg+xml" />
        <link rel="stylesheet" href={`${site}/console.css`} />
        <script type="module" src={`${site}/console.js`} />
      </head>
      <body class={environment === "production" ? "production" : undefined}>
        <a class="skip button" href="#main">
          Skip to the content
        </a>
        {children}
      </body>
    </html>
  );
}

/** Without a session, the page has no navigation. */
export function errorPage(c: ConsoleContext, error: ApiError): Response | Promise<Response> {
  const status = ERROR_STATUS[error.code];
  const frame = { title: status === 404 ? "Not found" : "That did not work", status };
  for (const [name, value] of Object.entries(error.headers)) c.header(name, value);
  const isOfOwner = /^\/owner(?![^/])/.test(c.req.path);
  const content = (
    <>
      <p>{inWords(error)}</p>
      <p class="row">
        {status === 400 && c.req.method === "GET" && <a href={c.req.path}>Without filters</a>}
        {status === 403 && c.req.method === "GET" && (
          <a href={c.req.path.replace(/\/[^/]+$/, "")}>The page without the form</a>
        )}
        {isOfOwner ? <a href="/owner">Your keys</a> : <a href="/console">Overview</a>}
      </p>
    </>
  );
  if (isOfOwner) return barePage(c, frame, content, "/owner");
  return c.var.author ? page(c, frame, content) : barePage(c, frame, content);
}
