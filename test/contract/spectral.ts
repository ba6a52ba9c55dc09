/** Spectral with its own rules and OWASP's for APIs, and the findings that we answer for, each with its reason. */
import spectralCore, { type ISpectralDiagnostic } from "@stoplight/spectral-core";
import owasp from "@stoplight/spectral-owasp-ruleset";
import spectralRulesets from "@stoplight/spectral-rulesets";

// Both are CommonJS: their members hang on the default export.
const { Spectral, Ruleset } = spectralCore;
const { oas } = spectralRulesets;

export type Exception = {
  readonly rule: string;
  /** Where in the document; a finding elsewhere is not excused. */
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
      "The specification (4.2) makes ids int64. Nothing is gained by guessing one: a key sees all orders anyway.",
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
      "Any int64 is an id, which `format` says. As a JSON number the bound itself is rounded by most readers, to one too high.",
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
      "The rule asks for exactly one style of rate-limit headers and finds two: the specification's triple and the IETF pair.",
  },
  {
    rule: "owasp:api8:2023-define-error-validation",
    at: /^paths\..*\.responses$/,
    because:
      "There is no input to be invalid: no bodies, no queries, and an id that is none is an order not found: 404.",
  },
  {
    rule: "owasp:api8:2023-define-cors-origin",
    at: /^(?:paths\..*\.|components\.)headers$/,
    because: "There is no CORS unless an operator lists origins; API keys do not belong in web pages.",
  },
  {
    rule: "info-contact",
    at: /^info$/,
    because: "Everybody runs an instance of their own; no address would be right for all.",
  },
];

export async function lintWithSpectral(document: Record<string, unknown>): Promise<{
  readonly findings: string[];
  /** Exceptions that excuse nothing any more. */
  readonly stale: Exception[];
}> {
  const spectral = new Spectral();
  spectral.setRuleset(new Ruleset({ extends: [oas, owasp] }));
  const results = await spectral.run(document);
  const isExcusedBy = ({ rule, at }: Exception, { code, path }: ISpectralDiagnostic) =>
    code === rule && at.test(path.join("."));
  return {
    findings: results
      .filter((result) => !EXCEPTIONS.some((exception) => isExcusedBy(exception, result)))
      .map(({ code, path, message }) => `${code} at ${path.join(".")}: ${message}`),
    stale: EXCEPTIONS.filter((exception) => !results.some((result) => isExcusedBy(exception, result))),
  };
}
