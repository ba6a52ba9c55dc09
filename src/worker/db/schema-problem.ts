/** Compares the migrations of the database with those of this version. The log says what to do. */
import { sql } from "drizzle-orm";
import { logEvent } from "../platform/log.ts";
import { type DatabaseEnv, lacksTableOrColumn, openDatabase } from "./database.ts";
import { READ_SCHEMA, type SchemaProblem, type SchemaRow, schemaProblem } from "./schema-number.ts";

/** Returns undefined if the database is of this version. */
export async function findSchemaProblem(env: DatabaseEnv): Promise<SchemaProblem | undefined> {
  const problem = schemaProblem(await openDatabase(env.DB).all<SchemaRow>(sql.raw(READ_SCHEMA)));
  if (problem !== undefined) logEvent("schema_wrong", { says: problem.says });
  return problem;
}

/** Returns the problem if it can have caused the error: a table or a column is missing. */
export async function schemaProblemBehind(
  env: DatabaseEnv,
  thrown: unknown,
): Promise<SchemaProblem | undefined> {
  return lacksTableOrColumn(thrown) ? findSchemaProblem(env).catch(() => undefined) : undefined;
}
