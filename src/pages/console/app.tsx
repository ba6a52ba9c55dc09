/** The console's frame: the sign-in page, or the navigation and the page of the address. */

import { useCallback, useEffect, useLayoutEffect, useMemo, useState } from "preact/hooks";
import { Route, Router, useLocation } from "preact-iso";
import { adminClient } from "./admin-client.ts";
import { type Admin, AdminContext, type ChangeUnderWay } from "./admin-context.ts";
import { AuditPage } from "./audit/audit-page.tsx";
import { BansPage } from "./bans/bans-page.tsx";
import { Page } from "./components/page.tsx";
import { PageBoundary } from "./components/page-boundary.tsx";
import { useToast } from "./components/toast.tsx";
import { CreateKeyPage } from "./keys/create-key-page.tsx";
import { KeyPage } from "./keys/key-page.tsx";
import { KeySearch } from "./keys/key-search.tsx";
import { KeysPage } from "./keys/keys-page.tsx";
import { ImportPage } from "./orders/import-page.tsx";
import { OrderPage } from "./orders/order-page.tsx";
import { OrdersPage } from "./orders/orders-page.tsx";
import { OverviewPage } from "./overview/overview-page.tsx";
import { PlansPage } from "./plans/plans-page.tsx";
import { clearSession, isSameSession, loadSession, type Session, saveSession } from "./session.ts";
import { refusalOf, type SignedOut, SignIn } from "./sign-in.tsx";
import { useHistoryAsVisits, useLinksAsVisits } from "./visits.ts";

const SECTIONS = [
  ["/console", "Overview"],
  ["/console/keys", "Keys"],
  ["/console/bans", "Bans"],
  ["/console/orders", "Orders"],
  ["/console/plans", "Plans"],
  ["/console/audit", "Audit"],
] as const;

/** The events of a document that the browser restores. */
const RESTORING = ["visibilitychange", "pageshow"] as const;

export function App() {
  const [session, setSession] = useState(loadSession);
  const [signedOut, setSignedOut] = useState<SignedOut>();
  const { toast, announce, warn } = useToast();
  useHistoryAsVisits();
  const signIn = (fresh: Session) => {
    saveSession(fresh);
    setSignedOut(undefined);
    setSession(fresh);
  };
  const onSignOut = useCallback((how: SignedOut) => {
    clearSession();
    setSignedOut(how);
    setSession(undefined);
  }, []);
  // The browser may restore a document of this tab with its state (back/forward cache), also after a sign-out in a later one.
  // useEffect would listen a moment later, when the document may be in the cache already.
  useLayoutEffect(() => {
    const endOtherSession = (event: Event) => {
      if (isSameSession(session, loadSession())) return;
      event.stopImmediatePropagation();
      // Hides the pages until the reload, also if that gets no answer.
      setSession(undefined);
      location.reload();
    };
    // Pages make calls when the document becomes visible, which is before `pageshow`: this listener runs before theirs (capture).
    for (const type of RESTORING) window.addEventListener(type, endOtherSession, true);
    return () => {
      for (const type of RESTORING) window.removeEventListener(type, endOtherSession, true);
    };
  }, [session]);
  return (
    <>
      {session === undefined ? (
        <SignIn signedOut={signedOut} onSignIn={signIn} />
      ) : (
        <SignedIn session={session} announce={announce} warn={warn} onSignOut={onSignOut} />
      )}
      {toast}
    </>
  );
}

type SignedInProps = Pick<Admin, "announce" | "warn"> & {
  readonly session: Session;
  readonly onSignOut: (how: SignedOut) => void;
};

function SignedIn({ session, announce, warn, onSignOut }: SignedInProps) {
  const [end] = useState(() => new AbortController());
  useEffect(() => () => end.abort(), [end]);
  useLinksAsVisits();
  const [underWay] = useState(() => new Set<ChangeUnderWay>());
  const signOut = useCallback(
    (isRefused: boolean) => {
      // Another call was refused, too. The sign-out has ended the changes meanwhile.
      if (end.signal.aborted) return;
      // The tries of one change have the same name.
      const unfinished = [...new Map([...underWay].map((change) => [change.name, change])).values()];
      onSignOut({ refusal: isRefused ? refusalOf(session) : undefined, unfinished });
    },
    [session, end, underWay, onSignOut],
  );
  const admin = useMemo(() => {
    const open = { ...session, ended: end.signal };
    return { client: adminClient(open), session: open, announce, warn, underWay, signOut };
  }, [session, end, announce, warn, underWay, signOut]);
  return (
    <AdminContext.Provider value={admin}>
      <a class="skip button" href="#main">
        Skip to the content
      </a>
      <header class="bar">
        <a class="brand" href="/console">
          <img src="/docs/icon.svg" alt="" width="24" height="24" /> Store Orders
        </a>
        <Navigation />
        <KeySearch />
        <button type="button" class="button small" onClick={() => signOut(false)}>
          Sign out
        </button>
      </header>
      <main id="main" tabIndex={-1}>
        <PageBoundary>
          <Router>
            <Route path="/console" component={OverviewPage} />
            <Route path="/console/keys" component={KeysPage} />
            <Route path="/console/keys/new" component={CreateKeyPage} />
            <Route path="/console/keys/:id" component={KeyPage} />
            <Route path="/console/bans" component={BansPage} />
            <Route path="/console/orders" component={OrdersPage} />
            <Route path="/console/orders/import" component={ImportPage} />
            <Route path="/console/orders/:id" component={OrderPage} />
            <Route path="/console/plans" component={PlansPage} />
            <Route path="/console/audit" component={AuditPage} />
            <Route default component={NoSuchPage} />
          </Router>
        </PageBoundary>
      </main>
    </AdminContext.Provider>
  );
}

function Navigation() {
  const { path } = useLocation();
  return (
    <nav aria-label="Console">
      <ul>
        {SECTIONS.map(([href, name]) => {
          const isCurrent = path === href || (href !== "/console" && path.startsWith(`${href}/`));
          return (
            <li key={href}>
              <a href={href} aria-current={isCurrent ? "page" : undefined}>
                {name}
              </a>
            </li>
          );
        })}
      </ul>
    </nav>
  );
}

function NoSuchPage() {
  return (
    <Page title="No such page">
      <p>
        The console has no page at this address. <a href="/console">Overview</a>
      </p>
    </Page>
  );
}
