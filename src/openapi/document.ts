/** Fills the holes of openapi.yaml with the settings of the service. Pure. */
import { petsHeaders } from "../worker/text/lifecycle.ts";

export type DocumentSettings = {
  /** The origin of the request for the document. */
  readonly ownOrigin: string;
  readonly productionBaseUrl: string | undefined;
  readonly stagingBaseUrl: string | undefined;
  /** An e-mail address or an https address. Undefined if not configured. */
  readonly supportContact: string | undefined;
  readonly petsSunsetDate: string;
};

type Server = { readonly url?: string; readonly description: string };
type Document = {
  readonly info: { readonly description: string };
  readonly servers: readonly Server[];
};

/** `template`: openapi.yaml as JSON. */
export function openApiDocument(template: string, settings: DocumentSettings): Document {
  const values = valuesOf(settings);
  const filled: Document = JSON.parse(template, (_, value) =>
    typeof value === "string" ? fill(value, values) : value,
  );
  return { ...filled, servers: ownFirst(filled.servers, values.baseUrl) };
}

/** `template`: the page that npm run build makes of openapi.yaml. */
export function docsHtml(template: string, settings: DocumentSettings): string {
  const values: Values = valuesOf(settings);
  const contact = values.supportUrl ?? `mailto:${values.supportEmail}`;
  const support =
    settings.supportContact && `<a href="${escapeHtml(contact)}">${escapeHtml(settings.supportContact)}</a>`;
  return template.replaceAll(/\{\{(\w+)\}\}/g, (_, name) =>
    name === "support" && support ? support : escapeHtml(values[name] ?? ""),
  );
}

function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
}

type Values = Readonly<Record<string, string | undefined>>;

function valuesOf({ ownOrigin, supportContact, petsSunsetDate, ...urls }: DocumentSettings) {
  const isEmail = supportContact !== undefined && !supportContact.startsWith("https:");
  return {
    // The address is absolute also on a local instance, because hey-api does not resolve a relative address.
    baseUrl: `${ownOrigin}/v1`,
    productionBaseUrl: urls.productionBaseUrl,
    stagingBaseUrl: urls.stagingBaseUrl,
    support: supportContact === undefined ? "the operator of this instance" : `<${supportContact}>`,
    supportEmail: isEmail ? supportContact : undefined,
    // Pages show a contact without an address as a link that leads nowhere.
    supportUrl: isEmail ? undefined : (supportContact ?? `${ownOrigin}/docs`),
    petsSunsetDate,
    petsSunset: petsHeaders(petsSunsetDate).Sunset,
  };
}

/** Undefined if a hole has no value. JSON.parse then leaves the member out. */
function fill(text: string, values: Values): string | undefined {
  const parts = text.split(/\{\{(\w+)\}\}/);
  const filled = parts.map((part, i) => (i % 2 === 0 ? part : values[part]));
  return filled.includes(undefined) ? undefined : filled.join("");
}

/** Tools send test calls to the first server. A server of the settings has its own description. */
function ownFirst(servers: readonly Server[], ownUrl: string): Server[] {
  const isOwn = ({ url }: Server) => url === ownUrl;
  const others = servers.filter(({ url }) => url !== undefined && url !== ownUrl);
  return [...servers.filter(isOwn).slice(0, 1), ...others];
}
