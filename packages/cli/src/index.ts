export { commandOf } from "./command/api-names.ts";
export { commandNames, run } from "./program.ts";
