/** The pages that send calls. /docs/admin also shows the admin API, to whoever is signed in to the console. */

declare const Scalar: { createApiReference(selector: string, configuration: object): void };

type Sent = { readonly request: Request };

/** Whatever would leave the host is off, and what says nothing about this API. */
const CONFIGURATION = {
  agent: { disabled: true },
  mcp: { disabled: true },
  showDeveloperTools: "never",
  hideClientButton: true,
  telemetry: false,
  withDefaultFonts: false,
  onBeforeRequest: askBeforeChange,
};

/** A key that is pasted here is a real one. An error ends the request. */
function askBeforeChange({ request: { method, url } }: Sent): void {
  if (/^(GET|HEAD)$/.test(method)) return;
  if (!confirm(`${method} ${url}\n\nThis changes real data, perhaps for good. Send it?`))
    throw new Error("Not sent.");
}

/** The document has a curl line for each operation. With the other languages their panel is gone. */
const OF_CLIENTS = { defaultOpenAllTags: true, hiddenClients: true };

/** The text is at /docs. */
async function clientApi() {
  const document = await (await fetch("/openapi.json")).json();
  document.info.description = "[The documentation](/docs) has limits, errors and programs.";
  return { title: "API", slug: "api", content: document };
}

async function show(): Promise<void> {
  if (!location.pathname.startsWith("/docs/admin")) {
    Scalar.createApiReference("#reference", { ...CONFIGURATION, ...OF_CLIENTS, ...(await clientApi()) });
    return;
  }
  const response = await fetch("/console/openapi.json");
  // Without a session, the answer is the form for signing in.
  const isDocument = response.ok && response.headers.get("Content-Type") === "application/json";
  document.querySelector<HTMLElement>("#sign-in")?.toggleAttribute("hidden", isDocument);
  if (!isDocument) return;
  const admin = { title: "Admin API", slug: "admin", content: await response.text(), default: true };
  Scalar.createApiReference("#reference", { ...CONFIGURATION, sources: [admin, await clientApi()] });
}

void show();
