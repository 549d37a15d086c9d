import { EventEmitter } from "node:events";
import { type Command, Help } from "commander";

/** An argument or option in the help of a command. `term`: what the user types. `says`: the help text. */
type Term = { readonly term: string; readonly says: string };

/** The help of a command, including the help of its subcommands. */
export type CommandHelp = {
  /** The name of the command as the user types it after `svc`. */
  readonly name: string;
  readonly usage: string;
  readonly says: string;
  readonly aliases: readonly string[];
  readonly arguments: readonly Term[];
  readonly options: readonly Term[];
  /** Help text that follows the list of options: first the notes about the command, then the examples. */
  readonly more: string;
  readonly members: readonly CommandHelp[];
};

/** Returns the help of a command, split into its name, arguments, options and other parts. The documentation shows these parts. */
export function helpOf(command: Command, before: readonly string[] = []): CommandHelp {
  const help = Object.assign(new Help(), command.configureHelp());
  const path = [...before, command.name()];
  return {
    name: path.join(" "),
    usage: help.commandUsage(command),
    says: command.description(),
    aliases: command.aliases(),
    arguments: help
      .visibleArguments(command)
      .map((argument) => ({ term: help.argumentTerm(argument), says: help.argumentDescription(argument) })),
    options: help
      .visibleOptions(command)
      .map((option) => ({ term: help.optionTerm(option), says: help.optionDescription(option) })),
    more: afterHelpOf(command),
    members: command.commands.map((member) => helpOf(member, path)),
  };
}

/** Returns the text that a command prints after its help. */
function afterHelpOf(command: Command): string {
  const parts: string[] = [];
  // The command as an event emitter. commander emits the event `afterHelp` when it prints the help, but the types of commander do not
  // declare this event.
  const emitter: unknown = command;
  if (emitter instanceof EventEmitter)
    emitter.emit("afterHelp", { error: false, command, write: (text: string) => parts.push(text) });
  return parts.join("").trim();
}
