/** Options that npm took for itself because `--` was forgotten, as in `npm run -s admin keys rotate ID --grace=24h`. */
import { type Command, CommanderError, type Option } from "commander";
import { shellWord } from "./shell.ts";

type Env = Readonly<Record<string, string | undefined>>;

/** npm reads these as its own one-letter options, and leaves what they stand for: `--plan` is `-p -l -a -n`. */
const READ_AS_LETTERS: Readonly<Record<string, readonly string[]>> = {
  plan: ["all", "long", "parseable"],
  days: ["all", "yes"],
};

/** What to type instead, or undefined if npm took no option. npm leaves the options that it takes in the environment. */
export function correctionOf(
  program: Command,
  argv: readonly string[],
  env: Env,
  script: { readonly name: string; readonly typed: string },
): string | undefined {
  if (env.npm_lifecycle_event !== script.name) return undefined;
  const taken = allOptions(program).filter((option) => isTaken(option, argv, env));
  if (taken.length === 0) return undefined;
  const names = taken.map(({ long }) => long).join(", ");
  const words = withOptions(program, argv, taken, env);
  return `npm has taken ${names} for itself. Type -- before the command: ${script.typed} -- ${words.join(" ")}`;
}

function allOptions(command: Command): Option[] {
  const options = [...command.options, ...command.commands.flatMap(allOptions)];
  return options.filter((option, i) => options.findIndex(({ long }) => long === option.long) === i);
}

function isTaken(option: Option, argv: readonly string[], env: Env): boolean {
  const isGiven = argv.some((word) => word.split("=")[0] === option.long);
  const letters = READ_AS_LETTERS[option.name()];
  const isReadAsLetters = letters?.every((name) => env[`npm_config_${name}`] === "true") ?? false;
  // `yes` is an option of npm too, which its configuration may set.
  return !isGiven && (isReadAsLetters || (option.long !== "--yes" && valueLeft(option, env) !== undefined));
}

/** Empty if npm did not take the option's value with it. */
function valueLeft(option: Option, env: Env): string | undefined {
  const value = env[`npm_config_${option.name().replaceAll("-", "_")}`];
  return value === "true" ? "" : value || undefined;
}

function withOptions(
  program: Command,
  argv: readonly string[],
  taken: readonly Option[],
  env: Env,
): string[] {
  const words = [...argv];
  const isAlone = taken.filter((option) => option.required && !valueLeft(option, env)).length === 1;
  const options = taken.map((option) => {
    if (!option.required) return [option.long ?? ""];
    const value = valueLeft(option, env) || (isAlone ? takeValue(program, words, option) : undefined);
    return [
      option.long ?? "",
      value === undefined ? (/<.*>/.exec(option.flags)?.[0] ?? "") : shellWord(value),
    ];
  });
  return [...words.map(shellWord), ...options.flat()];
}

/** npm leaves a value that follows its option among the arguments. Removes and returns it, if it is certain which it is. */
function takeValue(program: Command, words: string[], option: Option): string | undefined {
  const { command, depth } = commandIn(program, words);
  if (words.length !== depth + command.registeredArguments.length + 1) return undefined;
  const accepted = words.slice(depth).filter((word) => accepts(option, word));
  const value = accepted.at(-1);
  if (value !== undefined) words.splice(words.lastIndexOf(value), 1);
  return value;
}

function commandIn(program: Command, words: readonly string[]): { command: Command; depth: number } {
  let command = program;
  let depth = 0;
  for (const word of words) {
    const next = command.commands.find((each) => each.name() === word);
    if (next === undefined) break;
    command = next;
    depth++;
  }
  return { command, depth };
}

function accepts({ parseArg }: Option, word: string): boolean {
  try {
    parseArg?.(word, undefined);
    return true;
  } catch (thrown) {
    if (thrown instanceof CommanderError) return false;
    throw thrown;
  }
}
