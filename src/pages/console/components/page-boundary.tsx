/** Shows a message in place of a page that throws, such as the router for an address that is not valid. Another page, or this one if it is visited again, is shown again. */
import type { ComponentChildren } from "preact";
import { useEffect, useErrorBoundary, useRef } from "preact/hooks";
import { useLocation } from "preact-iso";
import { onVisit } from "../visits.ts";
import { Page } from "./page.tsx";

export function PageBoundary({ children }: { readonly children: ComponentChildren }) {
  const { url } = useLocation();
  const failedAt = useRef<string | undefined>(undefined);
  const [error, reset] = useErrorBoundary((thrown) => {
    failedAt.current = url;
    reportError(thrown);
  });
  useEffect(() => {
    if (failedAt.current !== url) reset();
  }, [url, reset]);
  useEffect(() => onVisit(reset), [reset]);
  if (error === undefined) return <>{children}</>;
  return (
    <Page title="This page cannot be shown">
      <p>
        Its address is not valid, or the service answered something unexpected.{" "}
        <a href="/console">Overview</a>
      </p>
    </Page>
  );
}
