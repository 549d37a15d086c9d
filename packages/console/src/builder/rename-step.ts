import { pointerTo } from "../form/faults.ts";
import { setText } from "../json/patch.ts";
import { isObject } from "../json/value.ts";

/** Members that name a set of rows, or another step, by its id alone. */
const namesStep: ReadonlySet<string> = new Set([
  ...["filter", "sort", "limit", "distinct", "join", "with", "group", "compute", "flatten", "reduce", "map"],
  "rerunFrom",
]);

/** Members with words for people, in which the id of a step is only a word. */
const isProse: ReadonlySet<string> = new Set(["title", "description", "$schema"]);

/**
 * Returns a document in which a step has another id, and everything in the program that refers to the step follows. `root`: the parsed
 * program at the JSON Pointer `base`. `pointer`: that of the step.
 */
export function renameStep(
  text: string,
  program: { root: unknown; base: string },
  step: { pointer: string; id: string },
  to: string,
): string {
  const edits: { pointer: string; value: string }[] = [{ pointer: `${step.pointer}/id`, value: to }];
  const reference = new RegExp(`\\b(steps|rows|calls)\\.${escaped(step.id)}(?![\\w-])`, "g");
  collect(program.root, program.base, "", ({ pointer, name, value }) => {
    const renamed = namesStep.has(name) && value === step.id ? to : value.replace(reference, `$1.${to}`);
    if (renamed !== value) edits.push({ pointer, value: renamed });
  });
  return edits.reduce((old, { pointer, value }) => setText(old, pointer, JSON.stringify(value)), text);
}

type Found = { readonly pointer: string; readonly name: string; readonly value: string };

/** Calls `found` for each string of a value, except words for people. */
function collect(value: unknown, pointer: string, name: string, found: (one: Found) => void): void {
  if (typeof value === "string") {
    if (!isProse.has(name)) found({ pointer, name, value });
  } else if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) collect(item, pointerTo(pointer, index), name, found);
  } else if (isObject(value)) {
    for (const [key, part] of Object.entries(value)) collect(part, pointerTo(pointer, key), key, found);
  }
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}
