export { commandNames, run } from "./program.ts";
