import type { WireFault } from "../../calls/fault.ts";
import { type PlacedFault, placeFaults } from "../../words/placed-faults.ts";
import { type Draft, pointers } from "./draft.ts";

/** A field of the form that can show errors. */
export type DraftField = keyof typeof pointers;

/** Errors of a definition, by the place that shows them. `at`: at a field. `program`: in the program's text. `rest`: above the form. */
export type PlacedDraftFaults = {
  at: Partial<Record<DraftField, string>>;
  program: readonly PlacedFault[];
  rest: readonly string[];
};

const byFields: Readonly<Record<Draft["by"], readonly DraftField[]>> = {
  cron: ["cron"],
  every: ["every"],
  at: ["at"],
  trigger: ["trigger", "entity"],
  poll: ["call", "pollEntity", "pollEvery", "args", "first", "per"],
};
const always: readonly DraftField[] = [
  ...(["title", "timeZone", "when", "input", "policy", "overlapMax", "rateMax", "ratePer"] as const),
  ...(["runs", "toolCalls", "writes", "pauseAfter"] as const),
];

/**
 * Sorts the errors of a schedule's definition by where the form shows them. An error about a form field is shown at this field. An error in
 * the program's text is shown at the line of the text. All remaining errors are shown above the form.
 */
export function placeDefinitionFaults(
  by: Draft["by"],
  programText: string,
  faults: readonly WireFault[],
): PlacedDraftFaults {
  const fields = [...byFields[by], ...always];
  const at: Partial<Record<DraftField, string>> = {};
  const rest: string[] = [];
  const ofProgram = [];
  for (const { reason, field, help } of faults) {
    const pointer = field.replace(/^definitionJson/, "");
    if (/^\/program(\/|$)/.test(pointer)) {
      ofProgram.push({ reason, pointer: pointer.slice("/program".length), message: help, help: "" });
      continue;
    }
    const name = fieldOf(fields, pointer);
    if (name === undefined) rest.push(pointer === "" ? help : `${pointer} ${help}`);
    else at[name] = at[name] === undefined ? help : `${at[name]} ${help}`;
  }
  return { at, program: placeFaults(programText, ofProgram), rest };
}

/**
 * Returns the form field whose value contains this place (a JSON Pointer) in the schedule's definition. Otherwise returns the first field
 * inside the place.
 */
function fieldOf(fields: readonly DraftField[], pointer: string): DraftField | undefined {
  if (pointer === "") return undefined;
  return (
    fields.find((name) => pointer === pointers[name] || pointer.startsWith(`${pointers[name]}/`)) ??
    fields.find((name) => pointers[name].startsWith(`${pointer}/`))
  );
}
