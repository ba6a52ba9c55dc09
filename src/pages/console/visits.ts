/**
 * Visits of addresses, by a question, a link, Back or Forward: each loads all of the page that it leads to, as without a router, also
 * if that page is shown already. For the address that is shown, the router would only add an entry to the browser's history.
 */
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { useLocation } from "preact-iso";

const VISIT = "visit";
const visits = new EventTarget();

export function onVisit(listener: () => void): () => void {
  visits.addEventListener(VISIT, listener);
  return () => visits.removeEventListener(VISIT, listener);
}

type Route = (address: string) => void;

function visit(address: string, route: Route): void {
  if (!isShown(address)) route(address);
  tellVisit();
}

function tellVisit(): void {
  visits.dispatchEvent(new Event(VISIT));
}

/** As `route` of the router, and a visit. */
export function useRoute(): Route {
  const { route } = useLocation();
  return (address) => visit(address, route);
}

export function useLinksAsVisits(): void {
  const { route } = useLocation();
  useEffect(() => {
    const visitLink = (event: MouseEvent) => {
      const address = event.target instanceof Element && addressOfLink(event.target.closest("a"));
      if (!address || opensElsewhere(event)) return;
      event.preventDefault();
      event.stopPropagation();
      visit(address, route);
    };
    // The router listens at the window, which is later.
    document.addEventListener("click", visitLink);
    return () => document.removeEventListener("click", visitLink);
  }, [route]);
}

/** For a component that is always shown: it must listen before the router, which is around it and has its layout effects later. */
export function useHistoryAsVisits(): void {
  const router = useRef(useLocation());
  router.current = useLocation();
  useLayoutEffect(() => {
    const visitEntry = (event: PopStateEvent) => {
      const { url, route } = router.current;
      const address = location.pathname + location.search;
      // Another part of the page, which has a `#`.
      if (address === url) return;
      // The router would render the page, which would load, before the visit is known.
      event.stopImmediatePropagation();
      route(address + location.hash, true);
      tellVisit();
    };
    window.addEventListener("popstate", visitEntry);
    return () => window.removeEventListener("popstate", visitEntry);
  }, []);
}

/** Undefined: the link does not lead to a page of the console in this tab, or it leads to a part of a page, which has a `#`. */
function addressOfLink(link: HTMLAnchorElement | null): string | undefined {
  if (!link || link.target || link.download || link.origin !== location.origin) return undefined;
  const isPage = /^\/console(\/|$)/.test(link.pathname) && !link.href.includes("#");
  return isPage ? link.pathname + link.search : undefined;
}

function opensElsewhere({ ctrlKey, metaKey, altKey, shiftKey, button }: MouseEvent): boolean {
  return ctrlKey || metaKey || altKey || shiftKey || button !== 0;
}

function isShown(address: string): boolean {
  return spelled(new URL(address, location.href)) === spelled(location);
}

/** What people and other programs write is not escaped as `addressOf` does. The router ignores a `/` at the end. */
function spelled({ pathname, search }: Pick<URL, "pathname" | "search">): string {
  return `${pathname.replace(/\/+$/, "")}?${new URLSearchParams(search)}`;
}
