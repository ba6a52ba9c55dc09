/** The frame of one page: its title, which gets the focus after a navigation, and its content. */
import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { useLocation } from "preact-iso";

type Props = {
  readonly title: string;
  /** Links and buttons beside the title. */
  readonly actions?: ComponentChildren;
  readonly children: ComponentChildren;
};

/** The browser itself places the focus on the first page. */
let shownPath: string | undefined;

export function Page({ title, actions, children }: Props) {
  const heading = useRef<HTMLHeadingElement>(null);
  const { path } = useLocation();
  useEffect(() => {
    document.title = `${title} – Store Orders console`;
  }, [title]);
  // With useEffect, a field that was just chosen could lose the focus.
  useLayoutEffect(() => {
    if (shownPath !== undefined && shownPath !== path) {
      heading.current?.focus();
      scrollTo(0, 0);
    }
    shownPath = path;
  }, [path]);
  return (
    <>
      <div class="page-head">
        <h1 ref={heading} tabIndex={-1}>
          {title}
        </h1>
        <div class="actions">{actions}</div>
      </div>
      {children}
    </>
  );
}
