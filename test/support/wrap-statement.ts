/** D1 statements for tests that count what they do, or make them wait. */

/** The statement, each call of which goes through `around`. `bind` keeps it so. */
export function wrapStatement(
  statement: D1PreparedStatement,
  around: (run: () => Promise<unknown>) => Promise<unknown>,
): D1PreparedStatement {
  return new Proxy(statement, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== "function") return member;
      if (name === "bind")
        return (...values: unknown[]) => wrapStatement(member.apply(target, values), around);
      return (...args: unknown[]) => around(() => member.apply(target, args));
    },
  });
}
