import { locatePointer } from "./json-pointer.ts";
import { pageWords } from "./page-words.ts";

/** Something wrong with a JSON text, as the service tells it; `pointer` is the JSON Pointer of what it is about. */
export type TextFault = { reason: string; pointer: string; message: string; help: string };

/** Such a fault, and where in the text it stands: its line, and the offsets of its mark with what the mark says. */
export type PlacedFault = TextFault & { id: string; line: number; mark: { from: number; to: number; text: string } };

/** Places faults at what they are about in a JSON text, in the order of the text. */
export function placeFaults(text: string, faults: readonly TextFault[]): PlacedFault[] {
  return faults
    .map((fault, index) => {
      const { reason, pointer, message } = fault;
      const help = pageWords(fault.help);
      const { from, to } = locatePointer(text, pointer);
      const lineEnd = text.indexOf("\n", from);
      // A mark stays on its first line: one of a whole step would paint all of it.
      const end = lineEnd === -1 ? to : Math.min(to, lineEnd);
      const line = text.slice(0, from).split("\n").length;
      const says = help === "" || help === message ? message : `${message}\n${help}`;
      return { ...fault, help, id: `${index} ${reason} ${pointer}`, line, mark: { from, to: end, text: says } };
    })
    .sort((a, b) => a.mark.from - b.mark.from);
}
