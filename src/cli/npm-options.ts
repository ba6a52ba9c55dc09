/** Options that npm took for itself because `--` was forgotten, as in `npm run -s admin keys rotate ID --grace=24h`. */
import { type Command, CommanderError, type Option } from "commander";
import { shellWord } from "./shell.ts";

type Env = Readonly<Record<string, string | undefined>>;

/** The scripts of package.json that run the program, and how one of them is typed. */
type Script = { readonly names: readonly string[]; readonly typed: string };

/**
 * npm reads these as its own one-letter options (`--plan` is `-p -l -a -n`) or as the beginning of a longer one
 * (`--bypass-2fa`), and leaves what they stand for.
 */
const READ_AS: Readonly<Record<string, readonly string[]>> = {
  "--plan": ["all", "long", "parseable"],
  "--days": ["all", "yes"],
  "--day": ["all", "yes"],
  "--by": ["bypass_2fa"],
};

/** What to type instead, or undefined if npm took no option. npm leaves the options that it takes in the environment. */
export function correctionOf(
  program: Command,
  argv: readonly string[],
  env: Env,
  script: Script,
): string | undefined {
  if (!isRunBy(script, env)) return undefined;
  const { command, depth } = commandIn(program, argv);
  const isOfCommand = ({ long }: Option) => command.options.some((each) => each.long === long);
  const isGiven = ({ long }: Option) => argv.some((word) => word.split("=")[0] === long);
  const taken = allOptions(program).filter(
    (option) =>
      !isGiven(option) && (isLeft(option, env) || (isOfCommand(option) && isReadAsOthers(option, env))),
  );
  if (taken.length === 0) return undefined;
  const names = taken.map(({ long }) => long).join(", ");
  const words = withOptions(program, argv, taken, env);
  const typed = [script.typed, "--", ...(words ?? argv.slice(0, depth).map(shellWord))].join(" ");
  const line = words === undefined ? `${typed} …, and the rest as you typed it` : typed;
  return `npm has taken ${names} for itself, or an .npmrc sets it. Type -- before the command: ${line}`;
}

/** What `correctionOf` may repeat besides the arguments: a secret can be among it. */
export function valuesTaken(program: Command, env: Env, script: Script): string[] {
  if (!isRunBy(script, env)) return [];
  return allOptions(program).flatMap((option) => valueLeft(option, env) ?? []);
}

function isRunBy({ names }: Script, env: Env): boolean {
  return names.includes(env.npm_lifecycle_event ?? "");
}

/** Also those of other commands: `keys disable ID --dry-run` must not be carried out without its last word. */
function allOptions(command: Command): Option[] {
  const options = [...command.options, ...command.commands.flatMap(allOptions)];
  return options.filter((option, i) => options.findIndex(({ long }) => long === option.long) === i);
}

/** `yes` is an option of npm too, which its configuration may set. */
function isLeft(option: Option, env: Env): boolean {
  return option.long !== "--yes" && valueLeft(option, env) !== undefined;
}

function isReadAsOthers({ long }: Option, env: Env): boolean {
  return READ_AS[long ?? ""]?.every((name) => env[`npm_config_${name}`] === "true") ?? false;
}

/** Empty if npm did not take the option's value with it. npm leaves an empty text for a switch that is off. */
function valueLeft(option: Option, env: Env): string | undefined {
  const value = env[`npm_config_${option.name().replaceAll("-", "_")}`];
  if (value === "" && !option.required) return undefined;
  return value === "true" ? "" : value;
}

/** Undefined if a value is missing, is an argument and not certain which, or is an address with a user name or password. */
function withOptions(
  program: Command,
  argv: readonly string[],
  taken: readonly Option[],
  env: Env,
): string[] | undefined {
  const words = [...argv];
  const { command, depth } = commandIn(program, words);
  const hasOneMore = words.length > depth + command.registeredArguments.length;
  const lacksValue = (option: Option) =>
    (option.required || (option.optional && hasOneMore)) && !valueLeft(option, env);
  const [lacking, ...others] = taken.filter(lacksValue);
  const found = lacking === undefined ? undefined : takeValue(program, words, lacking);
  if (others.length > 0 || (lacking !== undefined && found === undefined)) return undefined;
  if (taken.some((option) => hasUserInfo(valueLeft(option, env)))) return undefined;
  const options = taken.map((option) => {
    const value = option === lacking ? found : valueLeft(option, env);
    return [option.long ?? "", ...(value ? [shellWord(value)] : [])];
  });
  return [...words.map(shellWord), ...options.flat()];
}

function hasUserInfo(value: string | undefined): boolean {
  if (value === undefined || !URL.canParse(value)) return false;
  const { username, password } = new URL(value);
  return username + password !== "";
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
