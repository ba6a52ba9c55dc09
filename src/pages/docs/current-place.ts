/** Which part of the page the reader has scrolled to. */
import { useEffect, useState } from "preact/hooks";

type Place = { readonly id: string; readonly places?: readonly Place[] };

/** Below the bar and a heading that a link has scrolled to. */
const LINE_PX = 140;

/** The id of the last place whose heading is above the line. */
export function useCurrentPlace(places: readonly Place[]): string | undefined {
  const [current, setCurrent] = useState<string>();
  useEffect(() => {
    const headings = idsOf(places).flatMap((id) => headingOf(id) ?? []);
    const update = () => {
      const above = headings.filter(({ element }) => element.getBoundingClientRect().bottom <= LINE_PX);
      setCurrent(above.at(-1)?.id);
    };
    // The area is everything below the line, so that a heading which a link jumps over leaves it too.
    const observer = new IntersectionObserver(update, { rootMargin: `-${LINE_PX}px 0px 1000000px 0px` });
    for (const { element } of headings) observer.observe(element);
    return () => observer.disconnect();
  }, [places]);
  return current;
}

function headingOf(id: string): { readonly id: string; readonly element: Element } | undefined {
  const target = document.getElementById(id);
  return target ? { id, element: target.querySelector("h2, h3") ?? target } : undefined;
}

function idsOf(places: readonly Place[]): string[] {
  return places.flatMap((place) => [place.id, ...idsOf(place.places ?? [])]);
}
