import { Command, CommanderError } from "commander";
import { type CommandContext, processContext } from "./command-context.ts";
import { failureText } from "./command-error.ts";
import { originOf } from "./connection.ts";
import { addEventCommands } from "./events.ts";
import { addExamples } from "./examples.ts";
import { addKeysCommand } from "./keys.ts";
import { addListenCommand } from "./listen.ts";
import { addProjectsCommand } from "./projects.ts";
import { addServeCommand } from "./serve.ts";
import { addTriggerCommand } from "./trigger.ts";
import { version } from "./version.ts";

/** Runs the `svc` command line with its arguments (without node and script) and sets the exit code of the process. */
export async function run(argv: string[]): Promise<void> {
  process.exitCode = await runCommand(argv, processContext());
}

/**
 * Runs one command and resolves with its exit code: 0 when it did what it should, 1 when that was refused or failed, with the reason
 * as a line on standard error, 2 when the arguments are wrong.
 */
export async function runCommand(argv: readonly string[], context: CommandContext): Promise<number> {
  try {
    await createProgram(context).parseAsync(argv, { from: "user" });
    return 0;
  } catch (err) {
    // commander has written what was wrong, or the help that was asked for.
    if (err instanceof CommanderError) return err.exitCode === 0 ? 0 : 2;
    context.note(`svc: ${failureText(err, originOf(context))}`);
    return 1;
  }
}

function createProgram(context: CommandContext): Command {
  const program = new Command("svc")
    .description("Webhook triggers and a tool catalog on one process and one PostgreSQL.")
    .version(version, "--version", "print the version")
    .exitOverride()
    .configureOutput({
      writeOut: (text) => context.print(text.trimEnd()),
      writeErr: (text) => context.note(text.trimEnd()),
    })
    .showHelpAfterError("(add --help for its options and examples)");
  addServeCommand(program);
  addProjectsCommand(program, context);
  addKeysCommand(program, context);
  addListenCommand(program, context);
  addTriggerCommand(program, context);
  addEventCommands(program, context);
  program.addHelpText("after", "\nIn a checkout, `npx svc <command>` runs a command, and `npm start` is `svc serve`.");
  addExamples(program, ["svc serve", "svc listen --forward http://localhost:3000/hook", "svc trigger calendar"]);
  return program;
}
