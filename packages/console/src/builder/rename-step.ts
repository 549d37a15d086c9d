import { pointerTo } from "../form/faults.ts";
import { setText } from "../json/patch.ts";
import { isObject, type Json } from "../json/value.ts";

/** Members that name a set of rows, or another step, by its id alone. */
const namesStep: ReadonlySet<string> = new Set([
  ...["filter", "sort", "limit", "distinct", "join", "with", "group", "compute", "flatten", "reduce", "map"],
  "rerunFrom",
]);

/** Members with words for people, in which the id of a step is only a word. */
const isProse: ReadonlySet<string> = new Set(["title", "description", "$schema"]);

/** The forms that refer to steps in the data of an app. */
const forms: ReadonlySet<string> = new Set(["$ref", "$cel", "$text"]);

/**
 * Returns a document in which a step of the program has a new id, and all references to the step use the new id. `root`: the parsed program
 * at the JSON Pointer `base`. `pointer`: JSON Pointer of the step.
 */
export function renameStep(
  text: string,
  program: { root: unknown; base: string },
  step: { pointer: string; id: string },
  to: string,
): string {
  const edits: { pointer: string; value: string }[] = [{ pointer: `${step.pointer}/id`, value: to }];
  const reference = new RegExp(`\\b(steps|rows|calls)\\.${escaped(step.id)}(?![\\w-])`, "g");
  collect(program.root, { pointer: program.base, name: "", inData: false }, ({ pointer, name, inData, value }) => {
    if (inData && !forms.has(name)) return;
    const isName = namesStep.has(name) && value === step.id;
    const renamed = isName ? to : value.replace(reference, (_, kind: string) => `${kind}.${to}`);
    if (renamed !== value) edits.push({ pointer, value: renamed });
  });
  return edits.reduce((old, { pointer, value }) => setText(old, pointer, JSON.stringify(value)), text);
}

/** Place of a value. `name`: name of its member, or of the list around it. `inData`: true for data of an app. */
type Place = { readonly pointer: string; readonly name: string; readonly inData: boolean };

/** Calls `found` for each string of a value, except words for people. */
function collect(value: unknown, place: Place, found: (one: Place & { readonly value: string }) => void): void {
  const { pointer, name, inData } = place;
  if (typeof value === "string") {
    if (!isProse.has(name)) found({ ...place, value });
  } else if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) collect(item, { ...place, pointer: pointerTo(pointer, index) }, found);
  } else if (isObject(value)) {
    for (const [key, part] of Object.entries(value))
      collect(part, { pointer: pointerTo(pointer, key), name: key, inData: inData || isData(value, key) }, found);
  }
}

/** True if a member is data of an app: the arguments of a call, or the input of a tool or of the program. */
function isData(around: Json, name: string): boolean {
  if (name === "args") return Object.hasOwn(around, "call");
  return name === "input" && (Object.hasOwn(around, "run") || Object.hasOwn(around, "steps"));
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}
