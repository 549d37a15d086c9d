import { partedOf } from "@svc/core";
import type { ProgramFault } from "@svc/program";

/** Maximum number of faults that one response lists. The message also states how many are left out. */
export const listedMax = 100;
/** The listed faults may have at most as many characters as the program, plus this number. */
const listedCharactersMax = 12_000;

/** Returns the faults to list: the first ones, as many as the limits allow, and at least one. `characters`: length of the program text. */
export function listedFaults(found: readonly ProgramFault[], characters: number): readonly ProgramFault[] {
  let left = characters + listedCharactersMax;
  const unlisted = found.findIndex(({ code, pointer, message, hint }) => {
    left -= code.length + fieldOf(pointer).length + message.length + partedOf(hint).text.length + 3;
    return left < 0;
  });
  return found.slice(0, Math.min(listedMax, unlisted < 0 ? listedMax : Math.max(1, unlisted)));
}

/** Returns the name of the request field for a JSON Pointer into the program, for example `programJson/do/0`. Errors use this name. */
export function fieldOf(pointer: string): string {
  return `programJson${pointer}`;
}
