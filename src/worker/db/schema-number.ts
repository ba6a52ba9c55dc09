/** Which migrations a database has, and what to do if they are not those of this version. For Worker and tools. */

/** The number of the last migration. A test compares both. */
export const SCHEMA_NUMBER = 1;

/** A view has the number, so that one query reads it in a database of any version. */
export const READ_SCHEMA =
  "select name, sql from sqlite_schema where name in ('api_keys', 'past_owners', 'schema_number')";

/** A row of READ_SCHEMA. */
export type SchemaRow = Readonly<Record<string, unknown>>;

export type SchemaProblem = {
  /** `older`: the migrations bring the database to this version. `oldest`: they cannot. */
  readonly kind: "empty" | "older" | "oldest" | "newer";
  /** What to do. */
  readonly says: string;
};

/** Returns undefined for a database of this version. */
export function schemaProblem(rows: readonly SchemaRow[]): SchemaProblem | undefined {
  const tables = new Map(rows.map(({ name, sql }) => [name, String(sql)]));
  const number = Number(/\bSELECT (\d+)/i.exec(tables.get("schema_number") ?? "")?.[1] ?? 0);
  if (number === SCHEMA_NUMBER) return undefined;
  if (number > SCHEMA_NUMBER) {
    const says = `The database is of a newer version (schema ${number}, and this version has ${SCHEMA_NUMBER}): use that version or a later one.`;
    return { kind: "newer", says };
  }
  if (!tables.has("api_keys")) {
    const says =
      "The database has no tables: run npm start on this machine, or npm run deploy for a deployment.";
    return { kind: "empty", says };
  }
  // 2.2 and the versions before had one migration, which was edited from version to version.
  if (number === 0 && !tables.has("past_owners")) {
    const says =
      "The database is of version 2.1 or older, and no migration brings it to this version: docs/deploying.md, Upgrade, says what to do.";
    return { kind: "oldest", says };
  }
  const says =
    "The database is of an older version: npm start on this machine, or npm run deploy for a deployment, brings it to this version with all that is in it.";
  return { kind: "older", says };
}
