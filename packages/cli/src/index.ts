export { commandOf } from "./command/api-names.ts";
export { commandHelp, commandNames, run } from "./program.ts";
