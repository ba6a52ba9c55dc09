/** Links to the first and to the next page of a list. The browser's back button leads to the page before. */

type Props = { readonly first: string | undefined; readonly next: string | undefined };

export function Pager({ first, next }: Props) {
  if (first === undefined && next === undefined) return null;
  return (
    <nav class="pager" aria-label="Pages">
      {first && <a href={first}>First page</a>}
      {next && <a href={next}>Next page</a>}
    </nav>
  );
}
