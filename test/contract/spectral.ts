/** Runs Spectral with its own rules and OWASP's, and lists the accepted findings, each with its reason. */
import spectralCore, { type ISpectralDiagnostic } from "@stoplight/spectral-core";
import owasp from "@stoplight/spectral-owasp-ruleset";
import spectralRulesets from "@stoplight/spectral-rulesets";

// Both are CommonJS: their members are on the default export.
const { Spectral, Ruleset } = spectralCore;
const { oas } = spectralRulesets;

export type Exception = {
  readonly rule: string;
  /** The place in the document; a finding elsewhere is not accepted. */
  readonly at: RegExp;
  readonly because: string;
};

const ORDER = String.raw`(?:components\.schemas\.Order|.*\.schema\.items)\.properties\.`;

export const EXCEPTIONS: readonly Exception[] = [
  {
    rule: "operation-success-response",
    at: /^paths\.\/pets\/\{petId\}\.get\.responses$/,
    because: "The deprecated operation has no success. Its default response says so.",
  },
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

export async function lintWithSpectral(document: Record<string, unknown>): Promise<{
  readonly findings: string[];
  /** Exceptions without a finding. */
  readonly stale: Exception[];
}> {
  const spectral = new Spectral();
  spectral.setRuleset(new Ruleset({ extends: [oas, owasp] }));
  const results = await spectral.run(document);
  const isAcceptedBy = ({ rule, at }: Exception, { code, path }: ISpectralDiagnostic) =>
    code === rule && at.test(path.join("."));
  return {
    findings: results
      .filter((result) => !EXCEPTIONS.some((exception) => isAcceptedBy(exception, result)))
      .map(({ code, path, message }) => `${code} at ${path.join(".")}: ${message}`),
    stale: EXCEPTIONS.filter((exception) => !results.some((result) => isAcceptedBy(exception, result))),
  };
}
