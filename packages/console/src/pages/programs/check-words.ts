import type { Estimate, ProgramFault } from "@svc/gen/jobs";
import { type PlacedFault, placeFaults } from "../../words/placed-faults.ts";

/**
 * Returns each error of a program, with the part of the program's text that the error is about. The errors are in the order of the text.
 */
export function placeProgramFaults(
  text: string,
  faults: readonly Pick<ProgramFault, "reason" | "field" | "message" | "help">[],
): PlacedFault[] {
  return placeFaults(
    text,
    faults.map(({ reason, field, message, help }) => ({
      ...{ reason, message, help },
      pointer: field.replace(/^programJson/, ""),
    })),
  );
}

/** Returns the maximum effects of a program as pairs of name and value. Effects that are zero are left out. */
export function estimateFacts(estimate: Estimate): (readonly [name: string, value: string | undefined])[] {
  const { callsMin, callsMax, writesMax, destructiveMax, rowsMax, asksMax, toolkits, entities, notCompensable } =
    estimate;
  const count = (value: number) => (value === 0 ? undefined : value.toLocaleString("en"));
  const list = (values: readonly string[]) => (values.length === 0 ? undefined : values.join(", "));
  return [
    [
      "Tool calls",
      callsMin === callsMax
        ? callsMax.toLocaleString("en")
        : `${callsMin.toLocaleString("en")} to ${callsMax.toLocaleString("en")}`,
    ],
    ["Writes", count(writesMax) ?? "none"],
    ["Destructive", count(destructiveMax)],
    ["Rows", count(rowsMax)],
    ["Questions", count(asksMax)],
    ["Apps", list(toolkits)],
    ["Accounts of", list(entities)],
    ["Not undone", list(notCompensable)],
  ];
}
