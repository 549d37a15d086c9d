export { commandOf } from "./command/api-names.ts";
export { commandHelp, commandNames, run, runCommand } from "./program.ts";
