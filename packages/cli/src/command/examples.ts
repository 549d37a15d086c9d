import type { Command } from "commander";

/** Ends a command's help with examples, each a line as it is typed. */
export function addExamples(command: Command, examples: readonly string[]): void {
  command.addHelpText("after", `\nExamples:\n${examples.map((example) => `  ${example}`).join("\n")}`);
}
