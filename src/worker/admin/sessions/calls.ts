/** The calls about the sessions of the console. */
import { openDatabase } from "../../db/database.ts";
import { nowSeconds } from "../../text/time.ts";
import { call } from "../call.ts";
import { remove } from "../change.ts";
import { endedSession, sessionList } from "./schema.ts";
import { listSessions, sessionTarget } from "./sql.ts";

export const sessionCalls = {
  list: call({
    id: "sessions.list",
    route: "GET /sessions",
    summary: "List who is signed in to the console",
    description:
      "Sessions that began with a token and have not ended, newest first, at most 500. Whoever comes through Cloudflare Access has none. A session whose token was replaced is still listed, and opens nothing.",
    answer: sessionList,

    run: async ({ env }) => ({ sessions: await listSessions(openDatabase(env.DB), nowSeconds()) }),
  }),

  end: call({
    id: "sessions.end",
    route: "DELETE /sessions/:sessionId",
    summary: "Sign an operator out of the console",
    description:
      "From the next request on. Whoever knows the token can sign in again until the token is replaced.",
    answer: endedSession,

    run: (input) => remove(input, sessionTarget(input.id), "sessions.end"),
  }),
};
