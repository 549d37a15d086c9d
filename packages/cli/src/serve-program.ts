import { readFileSync } from "node:fs";
import { Command, CommanderError, Help, type Option } from "commander";
import { type CommandContext, processContext } from "./command/context.ts";
import { CommandError, failureText } from "./command/error.ts";
import { addServeCommand } from "./custom/serve.ts";

/** The version of this command line, from its package.json. */
const version: string = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")).version;

/**
 * Runs `svc serve` with its arguments (without node and script) and sets the exit code of the process. The process runs for months, so it
 * does not load the other commands.
 */
export async function runServe(argv: readonly string[]): Promise<void> {
  const context = processContext();
  const run = async () => void (await createServeProgram(context).parseAsync(argv, { from: "user" }));
  process.exitCode = await exitCodeOf(run, context, failureText);
}

/**
 * Returns the exit code of a command that `run` executes. If the command fails, writes the text of its error, which `textOf` returns, to
 * standard error.
 */
export async function exitCodeOf(
  run: () => Promise<void>,
  context: CommandContext,
  textOf: (error: unknown) => string,
): Promise<number> {
  try {
    await run();
    return 0;
  } catch (err) {
    // commander has already printed the error or the requested help.
    if (err instanceof CommanderError) return err.exitCode === 0 ? 0 : 2;
    context.note(`svc: ${textOf(err)}`);
    return err instanceof CommandError ? err.exitCode : 1;
  }
}

/** Returns the program `svc` with the command `serve` as its only command. */
export function createServeProgram(context: CommandContext): Command {
  const program = new Command("svc")
    .description("Tools of many apps for agents, and signed webhooks, in one process with one PostgreSQL.")
    .version(version, "--version", "print the version")
    .exitOverride()
    .configureOutput({
      writeOut: (text) => context.print(text.trimEnd()),
      writeErr: (text) => context.note(text.trimEnd()),
    })
    .configureHelp({ optionDescription: describeOption })
    .showHelpAfterError("(add --help for its options and examples)");
  addServeCommand(program);
  return program;
}

/**
 * Returns the description of an option as the help prints it. Leaves out a default that is an empty list, because it gives no information.
 */
function describeOption(option: Option): string {
  return new Help().optionDescription(option).replace(/ \(default: (?:\[\]|\{\})\)$/, "");
}
