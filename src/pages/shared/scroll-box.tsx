/** Content that scrolls on its own where it is wider or higher than its place. Only then, the keyboard can reach it. */
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

type Props = {
  /** What a screen reader calls it. */
  readonly label: string;
  readonly class?: string;
  readonly children: ComponentChildren;
};

export function ScrollBox({ label, class: name = "scrollable", children }: Props) {
  const box = useRef<HTMLElement>(null);
  const [scrolls, setScrolls] = useState(false);
  useEffect(() => {
    const element = box.current;
    if (!element) return undefined;
    const measure = () =>
      setScrolls(element.scrollWidth > element.clientWidth || element.scrollHeight > element.clientHeight);
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    for (const child of element.children) observer.observe(child);
    return () => observer.disconnect();
  }, []);
  const focusable = scrolls ? ({ tabIndex: 0, role: "region", "aria-label": label } as const) : {};
  return (
    <section ref={box} class={name} {...focusable}>
      {children}
    </section>
  );
}
