/** Links to the first and to the next page of a list. The browser's back button leads to the page before. */

type Props = {
  readonly first: string | undefined;
  readonly next: string | undefined;
  /** Needed if the page has several lists. */
  readonly label?: string;
};

export function Pager({ first, next, label = "Pages" }: Props) {
  if (first === undefined && next === undefined) return null;
  return (
    <nav class="pager" aria-label={label}>
      {first && <a href={first}>First page</a>}
      {next && <a href={next}>Next page</a>}
    </nav>
  );
}
