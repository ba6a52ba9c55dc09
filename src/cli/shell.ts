/** The shell in which a command was typed: the folder, and words that can be pasted there. */

/** npm changes to the project's folder before it runs a script, and names the folder where it was typed. */
export function typedFolder(env: Readonly<Record<string, string | undefined>>): string {
  const isScript = ["admin", "bench", "start"].includes(env.npm_lifecycle_event ?? "");
  return (isScript && env.INIT_CWD) || process.cwd();
}

/** Quoted where the shell would change or split it. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
