import type { ProgramFault } from "@svc/gen/jobs";
import { type PlacedFault, placeFaults } from "../../words/placed-faults.ts";

/** Places the faults that the service found in a program at what they are about in its text, in the order of the text. */
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
