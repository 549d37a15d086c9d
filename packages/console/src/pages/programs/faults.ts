import type { ProgramFault } from "@svc/gen/jobs";
import type { Mark } from "../../ui/json-writer.ts";
import { locatePointer } from "../../words/json-pointer.ts";

/** A fault of a program, and where in its text it stands. */
export type PlacedFault = {
  id: string;
  reason: string;
  pointer: string;
  message: string;
  help: string;
  line: number;
  mark: Mark;
};

/** Places the faults that the service found at what they are about in the text, in the order of the text. */
export function placeProgramFaults(
  text: string,
  faults: readonly Pick<ProgramFault, "reason" | "field" | "message" | "help">[],
): PlacedFault[] {
  return faults
    .map(({ reason, field, message, help }, index) => {
      const pointer = field.replace(/^programJson/, "");
      const { from, to } = locatePointer(text, pointer);
      const lineEnd = text.indexOf("\n", from);
      // A mark stays on its first line: one of a whole step would paint all of it.
      const end = lineEnd === -1 ? to : Math.min(to, lineEnd);
      const line = text.slice(0, from).split("\n").length;
      const says = help === "" || help === message ? message : `${message}\n${help}`;
      return {
        id: `${index} ${reason} ${field}`,
        reason,
        pointer,
        message,
        help,
        line,
        mark: { from, to: end, text: says },
      };
    })
    .sort((a, b) => a.mark.from - b.mark.from);
}
