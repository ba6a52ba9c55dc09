/** Which packages have code in a bundle. */
import type { Metafile } from "esbuild";

/** Their folders, relative to the project: `node_modules/NAME`. */
export function packageFoldersIn(metafiles: readonly Metafile[]): string[] {
  const inputs = metafiles.flatMap(({ outputs }) => Object.values(outputs).map(({ inputs }) => inputs));
  const files = inputs.flatMap((each) =>
    Object.keys(each).filter((file) => (each[file]?.bytesInOutput ?? 0) > 0),
  );
  return [
    ...new Set(files.flatMap((file) => /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(file)?.[1] ?? [])),
  ].sort();
}
