/** The frame of the console's pages. */
import type { Context } from "hono";
import { html } from "hono/html";
import type { Child, PropsWithChildren } from "hono/jsx";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import type { AppEnv } from "../context.ts";

export type ConsoleContext = Context<AppEnv>;

const SECTIONS = [
  ["/console", "Overview"],
  ["/console/keys", "Keys"],
  ["/console/customers", "Customers"],
  ["/console/usage", "Usage"],
  ["/console/bans", "Bans"],
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

/** A page for an operator who is signed in. */
export function page(c: ConsoleContext, { title, actions, status = 200 }: Frame, content: Child) {
  const body = (
    <Document title={title}>
      <header class="bar">
        <a class="brand" href="/console">
          <img src="/docs/icon.svg" alt="" width="24" height="24" /> Store Orders
        </a>
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
        <search>
          <form method="post" action="/console/search">
            <input
              type="search"
              name="text"
              aria-label="Search"
              placeholder="Name, owner, key id, secret, order id"
              maxlength={254}
              autocomplete="off"
              spellcheck={false}
              list="suggestions"
              required
            />
            <datalist id="suggestions" />
          </form>
        </search>
        {c.var.mayOnlyRead && (
          <span class="badge" title="You may read here, and change nothing.">
            read-only
          </span>
        )}
        <form method="post" action="/console/sign-out">
          <button type="submit" class="button small" title={`Signed in as ${c.var.author.actor}`}>
            Sign out
          </button>
        </form>
      </header>
      <main id="main" tabindex={-1}>
        <div class="page-head">
          <h1>{title}</h1>
          <div class="actions">{actions}</div>
        </div>
        {content}
      </main>
      <footer>
        <a href="/docs/admin">API reference</a>
      </footer>
    </Document>
  );
  return c.html(html`<!doctype html>${body}`, status);
}

/** A page without navigation, such as the one for signing in. */
export function barePage(c: ConsoleContext, { title, status = 200 }: Frame, content: Child) {
  const body = (
    <Document title={title}>
      <main id="main" class="bare" tabindex={-1}>
        <h1>{title}</h1>
        {content}
      </main>
    </Document>
  );
  return c.html(html`<!doctype html>${body}`, status);
}

function isCurrent(path: string, href: string): boolean {
  return path === href || (href !== "/console" && path.startsWith(`${href}/`));
}

function Document({ title, children }: PropsWithChildren<{ readonly title: string }>) {
  return (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta name="robots" content="noindex" />
        <title>{`${title} · Store Orders`}</title>
        <link rel="icon" href="/docs/icon.svg" type="image/svg+xml" />
        <link rel="stylesheet" href="/console/console.css" />
        <script type="module" src="/console/console.js" />
      </head>
      <body>
        <a class="skip button" href="#main">
          Skip to the content
        </a>
        {children}
      </body>
    </html>
  );
}
