/** Runs Spectral with its default ruleset and OWASP's, and lists the accepted findings, each with its reason. */
import spectralCore, { type ISpectralDiagnostic } from "@stoplight/spectral-core";
import owasp from "@stoplight/spectral-owasp-ruleset";
import spectralRulesets from "@stoplight/spectral-rulesets";

// Both are CommonJS: their members are on the default export.
const { Spectral, Ruleset } = spectralCore;
const { oas } = spectralRulesets;

type Exception = {
  readonly rule: string;
  /** The place in the document; a finding elsewhere is not accepted. */
  readonly at: RegExp;
  readonly because: string;
};

const ORDER = String.raw`(?:components\.schemas\.Order|.*\.schema\.items)\.properties\.`;

/** Of the default ruleset. */
const DEFAULT_EXCEPTIONS: readonly Exception[] = [
  {
    rule: "operation-success-response",
    at: /^paths\.\/pets\/\{petId\}\.get\.responses$/,
    because:
      "The operation answers 404, and 410 from its sunset on: the specification shows nothing behind it. It stays in the document, because the specification (9.3, 9.4) calls it deprecated and says that operations have stability markers, and it is the one that has them (ADR-15). The rule accepts nothing but a 2xx or 3xx: that would be a response that no client ever gets, and generated clients would have a type for it. The `default` response, which Redocly's rule of the same kind accepts, says what is true.",
  },
];

const OWASP_EXCEPTIONS: readonly Exception[] = [
  {
    rule: "owasp:api1:2023-no-numeric-ids",
    at: /^paths\..*\.parameters\.0\.schema$/,
    because:
      "The specification (4.2) makes ids int64. Guessing one gains nothing: a key can list all orders anyway.",
  },
  {
    rule: "owasp:api4:2023-integer-format",
    at: new RegExp(`${ORDER}quantity$`),
    because: "The specification (2) gives quantity no format.",
  },
  {
    rule: "owasp:api4:2023-integer-limit",
    at: new RegExp(`${ORDER}(?:id|petId|quantity)$|parameters\\.0\\.schema$`),
    because:
      "Any int64 is an id, as `format` says. Most JSON parsers round the bound itself up to a value that is too large.",
  },
  {
    rule: "owasp:api4:2023-integer-limit",
    at: /\.allOf\.1\.properties\.status$/,
    because: "`const` allows one value only.",
  },
  {
    rule: "owasp:api4:2023-array-limit",
    at: /^paths\.\/store\/orders\.get\.responses\.200\./,
    because: "The specification (8, rule 4) returns the whole set of orders in one response, without a cap.",
  },
  {
    rule: "owasp:api4:2023-rate-limit",
    at: /^paths\..*\.headers$/,
    because:
      "The rule expects exactly one style of rate-limit headers; the responses have the X-RateLimit headers of the specification and the IETF pair.",
  },
  {
    rule: "owasp:api8:2023-define-error-validation",
    at: /^paths\..*\.responses$/,
    because:
      "No input can be invalid: there are no bodies and no queries, and an invalid id is an order that is not found (404).",
  },
  {
    rule: "owasp:api8:2023-define-cors-origin",
    at: /^(?:paths\..*\.|components\.)headers$/,
    because: "There is no CORS unless an operator lists origins; API keys do not belong in web pages.",
  },
];

type Findings = {
  readonly findings: string[];
  /** Exceptions without a finding. */
  readonly stale: Exception[];
};

export function lintWithDefaultRuleset(document: Record<string, unknown>): Promise<Findings> {
  return lint(document, new Ruleset({ extends: [oas] }), DEFAULT_EXCEPTIONS);
}

export function lintWithOwaspRuleset(document: Record<string, unknown>): Promise<Findings> {
  return lint(document, new Ruleset({ extends: [owasp] }), OWASP_EXCEPTIONS);
}

async function lint(
  document: Record<string, unknown>,
  ruleset: InstanceType<typeof Ruleset>,
  exceptions: readonly Exception[],
): Promise<Findings> {
  const spectral = new Spectral();
  spectral.setRuleset(ruleset);
  const results = await spectral.run(document);
  const isAcceptedBy = ({ rule, at }: Exception, { code, path }: ISpectralDiagnostic) =>
    code === rule && at.test(path.join("."));
  return {
    findings: results
      .filter((result) => !exceptions.some((exception) => isAcceptedBy(exception, result)))
      .map(({ code, path, message }) => `${code} at ${path.join(".")}: ${message}`),
    stale: exceptions.filter((exception) => !results.some((result) => isAcceptedBy(exception, result))),
  };
}
