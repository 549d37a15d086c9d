import { isObject } from "@svc/core";
import type { ToolkitFiles } from "./read-definitions.ts";

/** Enough for the words of several trades; each is indexed, with every choice it lists. */
const sayingsMax = 60;
const lengthMax = 400;
/** Without choices, or with some that do not hold others. */
const form = /^(?:[^()|]|\([^()]*\))*$/;

/** Checks that sayings.yaml names tools of the toolkit, and that every saying can be read. */
export function checkSayings({ sayings: file, tools }: ToolkitFiles): void {
  if (file === undefined || file.faults.length > 0) return;
  if (!isObject(file.value)) {
    file.fault([], "is not a map of tools", "list sayings under the name of each tool");
    return;
  }
  for (const [name, sayings] of Object.entries(file.value)) {
    if (!tools.has(name))
      file.fault([name], `"${name}" is not a tool of the toolkit`, "name one that it has, or remove it");
    if (!Array.isArray(sayings) || sayings.length === 0 || sayings.length > sayingsMax) {
      file.fault([name], "is not a list of sayings", `list 1 to ${sayingsMax}`);
      continue;
    }
    for (const [index, saying] of sayings.entries()) {
      if (typeof saying === "string" && saying.length <= lengthMax && form.test(saying)) continue;
      const cure = `write up to ${lengthMax} characters, with choices such as (call|ring|) that hold no others`;
      file.fault([name, index], "is not a saying", cure);
    }
  }
}
