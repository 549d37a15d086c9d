import type { Fault } from "../../calls/fault.ts";
import { type PlacedFault, placeFaults } from "../../words/placed-faults.ts";

/** Places what the service finds wrong with a toolkit's definition at what it is about in its text, in the order of the text. */
export function placeDefinitionFaults(text: string, faults: readonly Fault[]): PlacedFault[] {
  return placeFaults(
    text,
    faults.map(({ field, help }) => {
      const steps = stepsOf(field);
      return { reason: steps.join(" › ") || "the whole", pointer: pointerOf(steps), message: help, help: "" };
    }),
  );
}

/** The steps of a field such as `definitionJson.tools.read_order.intents[2]`. */
function stepsOf(field: string): string[] {
  const path = field.replace(/^definitionJson(?:\.definition)?\.?/, "");
  return [...path.matchAll(/[^.[\]]+/g)].map(([step]) => step);
}

function pointerOf(steps: readonly string[]): string {
  return steps.map((step) => `/${step.replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
}
