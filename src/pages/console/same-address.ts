/**
 * Questions that are asked again, and links to the page that is shown: they load it again, as without a router. The router would only
 * add an entry to the browser's history.
 */
import { useEffect } from "preact/hooks";
import { useLocation } from "preact-iso";

const VISIT = "visit";
const visits = new EventTarget();

export function onVisit(listener: () => void): () => void {
  visits.addEventListener(VISIT, listener);
  return () => visits.removeEventListener(VISIT, listener);
}

/** As `route` of the router, and a visit, also of another address: it can ask the same, which only a visit loads again. */
export function useRoute(): (address: string) => void {
  const { route } = useLocation();
  return (address) => {
    if (!isShown(address)) route(address);
    visits.dispatchEvent(new Event(VISIT));
  };
}

export function useLinksToSameAddress(): void {
  useEffect(() => {
    // The router listens at the window, which is later.
    document.addEventListener("click", visitAgain);
    return () => document.removeEventListener("click", visitAgain);
  }, []);
}

function visitAgain(event: MouseEvent): void {
  const link = event.target instanceof Element ? event.target.closest("a") : null;
  const opensElsewhere =
    event.ctrlKey || event.metaKey || event.altKey || event.shiftKey || event.button !== 0;
  if (!link || opensElsewhere || link.target || link.download || !isShown(link.href)) return;
  event.preventDefault();
  event.stopPropagation();
  visits.dispatchEvent(new Event(VISIT));
}

/** Not a part of the page, which has a `#`. */
function isShown(address: string): boolean {
  const to = new URL(address, location.href);
  return to.origin === location.origin && !to.href.includes("#") && spelled(to) === spelled(location);
}

/** What people and other programs write is not escaped as `addressOf` does. The router ignores a `/` at the end. */
function spelled({ pathname, search }: Pick<URL, "pathname" | "search">): string {
  return `${pathname.replace(/\/+$/, "")}?${new URLSearchParams(search)}`;
}
