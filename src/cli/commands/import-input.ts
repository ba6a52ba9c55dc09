/** The file or standard input of `orders import`: read as a stream, and refused as a whole if it is no JSON. */
import { createReadStream, statSync } from "node:fs";
import { resolve } from "node:path";
import { addAbortSignal, PassThrough, pipeline, type Readable } from "node:stream";
import { binaryFormatOf, IMPORT_FORMATS, textFormatOf } from "../../worker/orders/import-format.ts";
import { AdminFailure } from "../admin-client.ts";
import type { CliIo } from "../io.ts";
import { typedFolder } from "../shell.ts";

export type ImportInput = {
  readonly text: AsyncIterable<string>;
  /** In bytes; 0 if it is not known. */
  readonly size: number;
  readonly bytesRead: () => number;
  /** The line on which the array begins, if the text is one array. */
  readonly arrayLine: number | undefined;
};

/** A first line that is longer is not looked at as a whole. */
const MAX_HEAD_CHARS = 4_096;

/** What messages call the input. Not by its name: an address with a password or a key can stand in its place. */
export function nameOf(file: string): string {
  return file === "-" ? "Standard input" : "The file";
}

export async function openInput(file: string, io: CliIo): Promise<ImportInput> {
  const name = nameOf(file);
  const { stream, size } = openStream(name, file, io);
  let bytesRead = 0;
  const chunks = decode(name, stream, (count) => {
    bytesRead += count;
  });
  const head = await headOf(chunks);
  return {
    text: prepend(head, chunks),
    size,
    bytesRead: () => bytesRead,
    arrayLine: arrayLineOf(name, head),
  };
}

function openStream(name: string, file: string, { stdin, interruption, env }: CliIo) {
  if (file === "-") return { stream: addAbortSignal(interruption, stdin), size: 0 };
  const path = resolve(typedFolder(env), file);
  try {
    const { size } = statSync(path);
    // A read that blocks, as of a FIFO without a writer, keeps the stream of the file from ending, but not this one.
    const text = pipeline(createReadStream(path), new PassThrough(), () => undefined);
    return { stream: addAbortSignal(interruption, text), size };
  } catch (thrown) {
    throw unreadable(name, thrown);
  }
}

/** Without the path, which follows the reason, as in `ENOENT: no such file or directory, stat '…'`. */
function unreadable(name: string, thrown: unknown): AdminFailure {
  const [reason] = (thrown instanceof Error ? thrown.message : String(thrown)).split(", ", 1);
  return new AdminFailure(`${name} cannot be read: ${reason}.`);
}

async function* decode(name: string, stream: Readable, onRead: (bytes: number) => void) {
  const decoder = new TextDecoder();
  let isFirst = true;
  try {
    for await (const chunk of stream) {
      const bytes: Uint8Array = typeof chunk === "string" ? new TextEncoder().encode(chunk) : chunk;
      if (isFirst) requireText(name, bytes);
      isFirst = false;
      onRead(bytes.byteLength);
      yield decoder.decode(bytes, { stream: true });
    }
  } catch (thrown) {
    throw thrown instanceof AdminFailure ? thrown : unreadable(name, thrown);
  }
  yield decoder.decode();
}

function requireText(name: string, bytes: Uint8Array): void {
  const format = binaryFormatOf(bytes);
  if (format !== undefined) throw new AdminFailure(`${name} is ${format}. ${IMPORT_FORMATS}`);
}

/** The text up to the end of its first line that is not blank. */
async function headOf(chunks: AsyncGenerator<string, void>): Promise<string> {
  let head = "";
  for (;;) {
    const first = head.trimStart();
    if (first.includes("\n") || head.length > MAX_HEAD_CHARS) return head;
    const next = await chunks.next();
    if (next.done) return head;
    head += next.value;
  }
}

async function* prepend(head: string, rest: AsyncIterable<string>) {
  yield head;
  yield* rest;
}

function arrayLineOf(name: string, head: string): number | undefined {
  const start = head.trimStart();
  if (start.startsWith("[")) return head.slice(0, head.length - start.length).split("\n").length;
  const line = start.split("\n", 1)[0]?.trim() ?? "";
  const format = textFormatOf(line);
  if (format === undefined) return undefined;
  // Without how it begins: it can be a file with a token or keys.
  throw new AdminFailure(`${name} is ${format}. ${IMPORT_FORMATS}`);
}
