import { nearest } from "@svc/catalog/nearest";
import type { Command } from "commander";

/**
 * Ends with the error of an unknown command where the arguments name none, or none of a group: a group that lists by itself would take
 * the name for an argument of its list. Throws CommanderError.
 */
export function refuseUnknownCommand(program: Command, argv: readonly string[]): void {
  let command = program;
  for (const [index, name] of argv.entries()) {
    if (command.commands.length === 0 || name.startsWith("-")) return;
    const found = command.commands.find((member) => [member.name(), ...member.aliases()].includes(name));
    if (found === undefined) {
      if (name === "help") return;
      const before = ["svc", ...argv.slice(0, index)].join(" ");
      const meant = nearest(
        name,
        command.commands.map((member) => member.name()),
      );
      const hint =
        meant === undefined ? `\`${before} --help\` lists those there are.` : `Did you mean \`${before} ${meant}\`?`;
      command.error(`error: unknown command '${before} ${name}'. ${hint}`, { exitCode: 2 });
    }
    command = found ?? command;
  }
}
