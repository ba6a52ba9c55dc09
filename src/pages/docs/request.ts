/** The request that a panel sends, and the same request as a curl command. Pure. */

export type Fields = Readonly<Record<string, string>>;

export type DocsRequest = {
  readonly method: string;
  readonly url: string;
  readonly headers: Fields;
};

type Template = {
  readonly method: string;
  /** With parameters in braces, as the OpenAPI document has it. */
  readonly path: string;
  readonly pathFields: Fields;
  readonly headerFields: Fields;
};

/** Header fields that are empty are not sent. */
export function requestOf(template: Template, baseUrl: string): DocsRequest {
  return {
    method: template.method,
    url: baseUrl + filled(template, () => ""),
    headers: trimmed(template.headerFields),
  };
}

/** A path parameter that is empty, or cannot be sent, is a shell variable: `{orderId}` is `$ORDER_ID`. */
export function curlOf(template: Template, baseUrl: string): string {
  const verb = template.method === "GET" ? "" : ` -X ${template.method}`;
  const path = filled(template, (name) => `$${screamingSnake(name)}`);
  const headers = Object.entries(trimmed(template.headerFields)).map(
    ([name, value]) => `  -H ${quoted(`${name}: ${value}`)} \\\n`,
  );
  const key = `  -H "Authorization: Bearer $KEY" \\\n`;
  return `curl -i${verb} \\\n${key}${headers.join("")}  "${baseUrl}${path}"`;
}

/** `absent` stands for a path parameter that is empty, or cannot be sent: also encoded, `.` and `..` lead to other addresses. */
function filled({ path, pathFields }: Template, absent: (name: string) => string): string {
  return path.replace(/\{(\w+)\}/g, (_all, name: string) => {
    const value = pathFields[name]?.trim() ?? "";
    return /^\.{0,2}$/.test(value) ? absent(name) : encodeURIComponent(wellFormed(value));
  });
}

/** As `toWellFormed` does, which browsers before 2023 lack. */
function wellFormed(text: string): string {
  return text.replace(/\p{Surrogate}/gu, "\ufffd");
}

function trimmed(fields: Fields): Fields {
  return Object.fromEntries(
    Object.entries(fields)
      .map(([name, value]) => [name, value.trim()] as const)
      .filter(([, value]) => value !== ""),
  );
}

/** For a POSIX shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

function screamingSnake(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase();
}
