/** Options that npm took for itself because `--` was forgotten, as in `npm run -s admin keys rotate ID --grace=24h`. */
import type { Command, Option } from "commander";

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

/**
 * What to type instead, or undefined if npm took no option. npm leaves the options that it takes in the environment. No value is
 * repeated: it can be a secret, and npm does not leave enough to tell whose it is.
 */
export function correctionOf(
  program: Command,
  argv: readonly string[],
  env: Env,
  script: Script,
): string | undefined {
  if (!isRunBy(script, env)) return undefined;
  const commands = commandsIn(program, argv);
  const command = commands.at(-1) ?? program;
  const isOfCommand = ({ long }: Option) => command.options.some((each) => each.long === long);
  const isGiven = ({ long }: Option) => argv.some((word) => word.split("=")[0] === long);
  const taken = allOptions(program).filter(
    (option) =>
      !isGiven(option) && (isLeft(option, env) || (isOfCommand(option) && isReadAsOthers(option, env))),
  );
  if (taken.length === 0) return undefined;
  const names = taken.map(({ long }) => long).join(", ");
  const line = [script.typed, "--", ...commands.map((each) => each.name())].join(" ");
  return `npm has taken ${names} for itself, or an .npmrc sets it. Type -- before the command: ${line} …, and the rest as you typed it`;
}

function isRunBy({ names }: Script, env: Env): boolean {
  return names.includes(env.npm_lifecycle_event ?? "");
}

/** Also those of other commands: `keys disable ID --dry-run` must not be carried out without its last word. */
function allOptions(command: Command): Option[] {
  const options = [...command.options, ...command.commands.flatMap(allOptions)];
  return options.filter((option, i) => options.findIndex(({ long }) => long === option.long) === i);
}

/** `yes` is an option of npm too, which its configuration may set. npm leaves an empty text for a switch that is off. */
function isLeft(option: Option, env: Env): boolean {
  const value = env[`npm_config_${option.name().replaceAll("-", "_")}`];
  return option.long !== "--yes" && value !== undefined && (value !== "" || option.required);
}

function isReadAsOthers({ long }: Option, env: Env): boolean {
  return READ_AS[long ?? ""]?.every((name) => env[`npm_config_${name}`] === "true") ?? false;
}

/** The command of the first words, and those that it belongs to, without the program. */
function commandsIn(program: Command, [word, ...words]: readonly string[]): Command[] {
  const next = program.commands.find((each) => each.name() === word);
  return next === undefined ? [] : [next, ...commandsIn(next, words)];
}
