import { EventEmitter } from "node:events";
import { type Command, Help } from "commander";

/** An argument or option of a command: how it is typed, and its help. */
type Term = { readonly term: string; readonly says: string };

/** The help of a command and of its members. */
export type CommandHelp = {
  /** The command as it is typed after `svc`. */
  readonly name: string;
  readonly usage: string;
  readonly says: string;
  readonly aliases: readonly string[];
  readonly arguments: readonly Term[];
  readonly options: readonly Term[];
  /** Help that follows the options: notes, and examples at the end. */
  readonly more: string;
  readonly members: readonly CommandHelp[];
};

/** Returns the help of a command in parts, for pages that show it. */
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

/** Returns what a command prints after its help. */
function afterHelpOf(command: Command): string {
  const parts: string[] = [];
  // commander sends this event when it prints the help. Its types do not include the event.
  const emitter: unknown = command;
  if (emitter instanceof EventEmitter)
    emitter.emit("afterHelp", { error: false, command, write: (text: string) => parts.push(text) });
  return parts.join("").trim();
}
