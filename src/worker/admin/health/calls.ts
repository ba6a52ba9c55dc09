/** The call about the service itself. Clients and monitors ask `/health`, which tells less. */
import * as v from "valibot";
import { healthOf } from "../../key/health.ts";
import { settingsOf } from "../../platform/settings.ts";
import { receiverOf } from "../alerts/receiver.ts";
import { receiverView } from "../alerts/schema.ts";
import { call } from "../call.ts";
import { count, described } from "../http/answer-schemas.ts";

export const showHealth = call({
  id: "health.show",
  route: "GET /health",
  summary: "Show what is wrong with the service",
  description: "Asks the database and a limiter, and tells how the last alert went.",
  answer: v.strictObject({
    problems: described(
      v.array(v.string()),
      "What is wrong with the database or the limiters, and what to do. Empty if all is well.",
    ),
    outdatedKeys: described(count, "Keys whose counters have not been told of a change."),
    unreportedKeys: described(
      count,
      "Keys whose latest usage may be missing, as their counters could not report.",
    ),
    wrongSettings: described(
      v.array(v.strictObject({ names: v.string(), rule: v.string() })),
      "Settings that are wrong, and therefore off.",
    ),
    alerts: described(
      v.nullable(receiverView),
      "Whether the webhook's receiver accepts alerts. Null: no webhook is configured, or the database cannot be asked.",
    ),
  }),

  run: async ({ env }) => {
    const { failures, warning, reached, outdatedKeys, unreportedKeys } = await healthOf(env);
    const alerts = reached.database ? await receiverOf(env) : null;
    const problems = warning === undefined ? [...failures] : [...failures, warning];
    return { problems, outdatedKeys, unreportedKeys, wrongSettings: settingsOf(env).problems, alerts };
  },
});
