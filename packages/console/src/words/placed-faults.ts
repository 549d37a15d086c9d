import { locatePointer } from "../json/locate.ts";
import { pageWords } from "./page-words.ts";

/** An error in a JSON text, as the service reports it. `pointer`: the JSON Pointer of the wrong value. */
type TextFault = { reason: string; pointer: string; message: string; help: string };

/**
 * An error with its position in the text. `line`: number of the line. `mark`: the offsets of the text to mark, and the message to show
 * there.
 */
export type PlacedFault = TextFault & { id: string; line: number; mark: { from: number; to: number; text: string } };

/** Returns errors with their positions in a JSON text, in the order of the text. */
export function placeFaults(text: string, faults: readonly TextFault[]): PlacedFault[] {
  return faults
    .map((fault, index) => {
      const { reason, pointer, message } = fault;
      const help = pageWords(fault.help);
      const { from, to } = locatePointer(text, pointer);
      const lineEnd = text.indexOf("\n", from);
      // The mark ends at the end of its first line, because a mark over a whole step would colour too much text.
      const end = lineEnd === -1 ? to : Math.min(to, lineEnd);
      const line = text.slice(0, from).split("\n").length;
      const says = help === "" || help === message ? message : `${message}\n${help}`;
      return { ...fault, help, id: `${index} ${reason} ${pointer}`, line, mark: { from, to: end, text: says } };
    })
    .sort((a, b) => a.mark.from - b.mark.from);
}
