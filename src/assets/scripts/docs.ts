/** The documentation pages. /docs/admin also shows the admin API, to whoever is signed in to the console. */

declare const Scalar: { createApiReference(selector: string, configuration: object): void };

/** Whatever would leave the host is off. */
const CONFIGURATION = {
  agent: { disabled: true },
  mcp: { disabled: true },
  showDeveloperTools: "never",
  hideClientButton: true,
  telemetry: false,
  withDefaultFonts: false,
  customCss: "body .scalar-app .markdown :is(td, th) { word-break: normal }",
};

const API = { title: "API", slug: "api", url: "/openapi.json" };

async function show(): Promise<void> {
  if (!location.pathname.startsWith("/docs/admin")) {
    Scalar.createApiReference("#reference", { ...CONFIGURATION, url: API.url });
    return;
  }
  const response = await fetch("/console/openapi.json");
  // Without a session, the answer is the form for signing in.
  const isDocument = response.ok && response.headers.get("Content-Type") === "application/json";
  document.querySelector<HTMLElement>("#sign-in")?.toggleAttribute("hidden", isDocument);
  if (!isDocument) return;
  const admin = { title: "Admin API", slug: "admin", content: await response.text(), default: true };
  Scalar.createApiReference("#reference", { ...CONFIGURATION, sources: [admin, API] });
}

void show();
