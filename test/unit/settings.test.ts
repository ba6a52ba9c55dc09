/** The settings of a deployment: what each takes, what the problem says, and what is off then. */
import { describe, it } from "vitest";
import type { Bindings } from "../../src/worker/context.ts";
import { readSettings } from "../../src/worker/platform/settings.ts";

const problemsOf = (vars: Partial<Bindings>) =>
  readSettings(vars).problems.map(({ names, rule }) => `${names} ${rule}`);

const TEAM = "acme.cloudflareaccess.com";
const [AUD, OTHER_AUD] = ["a".repeat(64), "b".repeat(64)];

describe("the settings", () => {
  it("have defaults, also for vars that are empty", ({ expect }) => {
    const defaults = {
      problems: [],
      tokens: [],
      access: undefined,
      webhook: undefined,
      consoleUrl: undefined,
      environmentName: undefined,
      corsOrigins: [],
      logsOneIn: 1,
      policyRefreshSeconds: 600,
      petsSunsetDate: "2030-12-05",
      productionBaseUrl: undefined,
      stagingBaseUrl: undefined,
      supportContact: undefined,
      retentionDays: { audit: 730, bans: 730, cancelledOrders: 730, usage: 400 },
    };
    expect(readSettings({})).toEqual(defaults);
    expect(readSettings({ CORS_ORIGINS: "", PRODUCTION_BASE_URL: "", USAGE_RETENTION_DAYS: "" })).toEqual(
      defaults,
    );
  });

  it("take each documented value", ({ expect }) => {
    expect(
      readSettings({
        ACCESS_TEAM_DOMAIN: TEAM,
        ACCESS_AUD: `${AUD}, ${OTHER_AUD}`,
        ACCESS_WRITERS: "Mo@example.com, 0123abcd.access",
        CORS_ORIGINS: "https://app.example http://localhost:3000",
        LOG_REQUESTS: "1/100",
        PETS_SUNSET_DATE: "2028-02-29",
        POLICY_REFRESH_SECONDS: "10",
        STAGING_BASE_URL: "https://staging.example.com/store/v1",
        USAGE_RETENTION_DAYS: 90, // wrangler gives the Worker a number of the file as a number
      }),
    ).toMatchObject({
      access: {
        teamDomain: TEAM,
        audiences: [AUD, OTHER_AUD],
        writers: ["mo@example.com", "0123abcd.access"],
      },
      corsOrigins: ["https://app.example", "http://localhost:3000"],
      logsOneIn: 100,
      petsSunsetDate: "2028-02-29",
      policyRefreshSeconds: 10,
      stagingBaseUrl: "https://staging.example.com/store/v1",
      retentionDays: { usage: 90 },
    });
    for (const contact of ["o'brien+keys@example.com", "https://help.example.com/keys?from=docs#a"]) {
      expect(readSettings({ SUPPORT_CONTACT: contact }).supportContact).toBe(contact);
    }
  });

  const REFUSED: [name: keyof Bindings & `${string}_${string}`, rule: string, values: string[]][] = [
    ["ACCESS_TEAM_DOMAIN", "must be a host", [`https://${TEAM}`, `${TEAM}.example`]],
    ["ACCESS_AUD", "must list audience tags of 64 hex digits", [AUD.slice(1), `${AUD} x`, ","]],
    [
      "CORS_ORIGINS",
      "must list origins such as https://app.example",
      ["https://app.example/", "https://App.example", "app.example", "https://*.app.example", "*"],
    ],
    [
      "CONSOLE_URL",
      "must be an https address whose path ends in /console",
      ["http://api.example.com/console", "https://api.example.com/", "https://api.example.com/console/"],
    ],
    ["ENVIRONMENT_NAME", "must have 1 to 24 letters", ["a".repeat(25), "<b>", "our shop"]],
    [
      "LOG_REQUESTS",
      'must be "all", "refused" or a share',
      ["none", "1/0", "2/3", "1/100000", "0.1", "1/01", "ALL", "10"],
    ],
    ["POLICY_REFRESH_SECONDS", "must be a number of seconds from 2 to 3600", ["1", "3601", "1.5"]],
    ["PETS_SUNSET_DATE", "must be a date from 2026-11-21 on", ["2030-02-30", "soon", "2026-11-20"]],
    [
      "PRODUCTION_BASE_URL",
      "must be an https address whose path ends in /v1",
      [
        "http://api.example.com/v1",
        "https://api.example.com/v1/",
        "https://api.example.com/?/v1",
        "https://api.example.com/v1?",
        "https://API.example.com/v1",
        "https://user@api.example.com/v1",
        "api.example.com/v1",
      ],
    ],
    [
      "SUPPORT_CONTACT",
      "must be an e-mail address or an https address",
      ["call us", "mailto:a@b.example", "a@b@c.example", "http://help.example.com", "https://a b"],
    ],
    ["CANCELLED_ORDERS_RETENTION_DAYS", "must be a number of days from 7 to 3650", ["6", "3651"]],
    ["USAGE_RETENTION_DAYS", "must be a number of days from 30 to 3650", ["29", "3651", "90.5", "a year"]],
  ];
  it.for(REFUSED)("name a wrong %s, what it must be and what it is", ([name, rule, values], { expect }) => {
    for (const value of values) {
      const pair = name === "ACCESS_AUD" ? { ACCESS_TEAM_DOMAIN: TEAM } : { ACCESS_AUD: AUD };
      const given = name === "ACCESS_AUD" || name === "CORS_ORIGINS" ? value.split(" ").at(-1) : value;
      const [problem = "", ...others] = problemsOf({ ...(/^ACCESS/.test(name) && pair), [name]: value });
      expect([problem, others]).toEqual([expect.stringContaining(`${name} ${rule}`), []]);
      expect(problem).toContain(given);
    }
  });

  it("that are wrong are off, and the others stay as they are", ({ expect }) => {
    const wrong = Object.fromEntries(REFUSED.map(([name, , [value]]) => [name, value]));
    const right = { SUPPORT_CONTACT: "mo@example.com", AUDIT_RETENTION_DAYS: "90" };
    const { problems, ...off } = readSettings({ ...wrong, ...right });
    expect(problems.length).toBeGreaterThan(7);
    const { problems: none, ...unset } = readSettings({});
    expect(none).toEqual([]);
    expect(off).toEqual({
      ...unset,
      access: "wrong",
      supportContact: "mo@example.com",
      // The operator may have meant a longer time than the default, so no row is deleted.
      retentionDays: { audit: 90, bans: 730, cancelledOrders: null, usage: null },
    });
  });

  it("refuse a list of writers that names nobody, and let nobody write", ({ expect }) => {
    for (const nobody of ["", " ", ",", "\t,\n"]) {
      const vars = { ACCESS_TEAM_DOMAIN: TEAM, ACCESS_AUD: AUD, ACCESS_WRITERS: nobody };
      expect(problemsOf(vars)).toEqual([expect.stringContaining("ACCESS_WRITERS must list e-mails")]);
      expect(readSettings(vars).access).toMatchObject({ teamDomain: TEAM, writers: [] });
    }
    const unset = readSettings({ ACCESS_TEAM_DOMAIN: TEAM, ACCESS_AUD: AUD });
    expect(unset).toMatchObject({ problems: [], access: { writers: undefined } });
  });

  const WEBHOOK_SECRET = `whsec_${btoa("x".repeat(24))}`;

  it("take the webhook's address and secret, both or neither, and repeat none of them", ({ expect }) => {
    const secret = WEBHOOK_SECRET;
    for (const url of ["https://hooks.example/a?b=c", "http://localhost:8080/", "http://127.0.0.1:1/a"]) {
      const set = readSettings({ ALERT_WEBHOOK_URL: url, ALERT_WEBHOOK_SECRET: secret });
      expect(set.webhook).toEqual({ url, secrets: [secret], format: "full" });
    }
    const old = `whsec_${btoa("y".repeat(64))}`;
    const rotating = { ALERT_WEBHOOK_URL: "https://a.example", ALERT_WEBHOOK_SECRET: `${secret} ${old}` };
    expect(readSettings({ ...rotating, ALERT_FORMAT: "text" }).webhook).toMatchObject({
      secrets: [secret, old],
      format: "text",
    });
    const both = "ALERT_WEBHOOK_URL and ALERT_WEBHOOK_SECRET must both be set, or neither";
    expect(problemsOf({ ALERT_WEBHOOK_URL: "https://hooks.example" })).toEqual([both]);
    expect(problemsOf({ ALERT_WEBHOOK_SECRET: secret })).toEqual([both]);
    for (const url of ["http://hooks.example/secret", "https://me:secret@hooks.example", "secret"]) {
      const problems = problemsOf({ ALERT_WEBHOOK_URL: url, ALERT_WEBHOOK_SECRET: secret });
      expect(problems).toEqual(["ALERT_WEBHOOK_URL must be an https address"]);
    }
    const short = btoa("x".repeat(23));
    const several = [`${secret} ${secret} ${secret}`, `${secret} whsec_${short}`, `${secret},${secret}`];
    for (const wrong of [
      `whsec_${short}`,
      secret.slice(6),
      `whsec_${"=".repeat(40)}`,
      `${secret}!`,
      ...several,
    ]) {
      const vars = { ALERT_WEBHOOK_URL: "https://hooks.example", ALERT_WEBHOOK_SECRET: wrong };
      expect(problemsOf(vars)).toEqual([expect.stringMatching(/^ALERT_WEBHOOK_SECRET must be [^x]+$/)]);
      expect(readSettings(vars).webhook).toBeUndefined();
    }
  });

  it("refuse one var of Access without the other", ({ expect }) => {
    for (const wrong of [{ ACCESS_TEAM_DOMAIN: TEAM }, { ACCESS_AUD: AUD }]) {
      const both = "ACCESS_TEAM_DOMAIN and ACCESS_AUD must both be set, or neither";
      expect([problemsOf(wrong), readSettings(wrong).access]).toEqual([[both], "wrong"]);
    }
  });
});
