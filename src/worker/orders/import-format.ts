/** Names a file that is no JSON, so that it is refused once and not line by line. For the command line and the console. Pure. */

export const IMPORT_FORMATS = "An import takes a JSON array, or one JSON object per line (NDJSON), in UTF-8.";

/** By its first two bytes. A JSON text begins with an ASCII character, or with the byte order mark of UTF-8. */
export function binaryFormatOf([first, second]: Uint8Array): string | undefined {
  if (first === undefined || second === undefined) return undefined;
  if (first === 0x1f && second === 0x8b) return "compressed with gzip";
  if (first === 0x50 && second === 0x4b) return "a ZIP archive or a spreadsheet";
  const hasUtf16Mark = (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff);
  const isHalfZero = (first === 0) !== (second === 0);
  return hasUtf16Mark || isHalfZero ? "in UTF-16" : undefined;
}

/** By its first line that is not blank. A line that is JSON but no object is refused as a line, and the others are imported. */
export function textFormatOf(firstLine: string): string | undefined {
  if (firstLine === "" || /^[[{]/.test(firstLine) || isJson(firstLine)) return undefined;
  return /[,;\t]/.test(firstLine) ? "not JSON but looks like CSV" : "not JSON";
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
