/** The programs in the introduction of the OpenAPI document. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Service } from "./service.ts";

/** The introduction as the service shows it. */
export async function introductionOf(service: Service): Promise<string> {
  const response = await fetch(new URL("/openapi.json", service.url));
  // Without a description, writeProgram throws.
  const { info } = (await response.json()) as { info: { description: string } };
  return info.description;
}

/** Writes the first program after the words `before` into the folder, and returns its file. */
export function writeProgram(introduction: string, before: string, folder: string): string {
  const [, program] = /```\w+\n([\s\S]*?)```/.exec(introduction.split(before)[1] ?? "") ?? [];
  if (program === undefined) throw new Error(`The introduction has no program after "${before}".`);
  const file = join(folder, "program.mjs");
  writeFileSync(file, program);
  return file;
}
