/**
 * Visits of addresses, by a question or a link: each loads all of the page that it leads to, as without a router, also if that page is
 * shown already. For the address that is shown, the router would only add an entry to the browser's history.
 */
import { useEffect } from "preact/hooks";
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
