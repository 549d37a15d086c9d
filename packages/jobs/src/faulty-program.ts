import { partedOf } from "@svc/core";
import type { ProgramFault } from "@svc/program";

/** Faults that an answer lists at most. Its message counts the rest. */
export const listedMax = 100;
/** Characters that the list may have beyond the length of the program. */
const listedCharactersMax = 12_000;

/** Returns the first faults of a program: as many as fit into a list a little longer than its text, which had `characters`. */
export function listedFaults(found: readonly ProgramFault[], characters: number): readonly ProgramFault[] {
  let left = characters + listedCharactersMax;
  const unlisted = found.findIndex(({ code, pointer, message, hint }) => {
    left -= code.length + fieldOf(pointer).length + message.length + partedOf(hint).text.length + 3;
    return left < 0;
  });
  return found.slice(0, Math.min(listedMax, unlisted < 0 ? listedMax : Math.max(1, unlisted)));
}

/** Returns a place of a program as a field of a request. */
export function fieldOf(pointer: string): string {
  return `programJson${pointer}`;
}
