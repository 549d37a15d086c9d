import { type Fault, faults } from "@svc/core";
import type { ProgramFault } from "@svc/program";

/** Most faults that an answer lists; its message counts the rest. */
const listedMax = 100;
/** Faults that the message quotes, and characters of each. */
const quotedMax = 5;
const quotedCharactersMax = 300;
/** Characters that the list may have beyond those of the program. */
const listedCharactersMax = 12_000;

/**
 * A program has faults: a detail each, `field` naming the place by `programJson` and a JSON Pointer; as many as make no longer list
 * than the program's text, which had `characters`, and a little more.
 */
export function programFaulty(found: readonly ProgramFault[], omitted: number, characters: number): Fault {
  const count = found.length + omitted;
  const quoted = found
    .slice(0, quotedMax)
    .map(({ pointer, message }) => `${pointer === "" ? "the program" : pointer} ${message}`)
    .map((text) =>
      text.length > quotedCharactersMax ? `${text.slice(0, quotedCharactersMax).toWellFormed()}...` : text,
    );
  const details = listedFaults(found, characters).map(({ code, pointer, message, hint }) => {
    return { reason: code, field: fieldOf(pointer), help: `${message}: ${hint}.` };
  });
  const others = count > quoted.length ? `; and ${count - quoted.length} more` : "";
  return faults({
    code: "invalid_argument",
    message: `programJson has ${count === 1 ? "1 fault" : `${count} faults`}: ${quoted.join("; ")}${others}`,
    details,
  });
}

/** The first faults of a program: as many as make no longer list than its text, which had `characters`, and a little more. */
export function listedFaults(found: readonly ProgramFault[], characters: number): readonly ProgramFault[] {
  let left = characters + listedCharactersMax;
  const unlisted = found.findIndex(({ code, pointer, message, hint }) => {
    left -= code.length + fieldOf(pointer).length + message.length + hint.length + 3;
    return left < 0;
  });
  return found.slice(0, Math.min(listedMax, unlisted < 0 ? listedMax : Math.max(1, unlisted)));
}

/** A place of a program as a field of a request. */
export function fieldOf(pointer: string): string {
  return `programJson${pointer}`;
}

/** The program of a job was accepted before rules that it breaks, which what becomes a tool has to keep. */
export function promotedProgramFaulty(jobId: string, found: readonly ProgramFault[]): Fault {
  const details = found.slice(0, listedMax).map(({ code, pointer, message, hint }) => {
    return {
      reason: code,
      field: "jobId",
      help: `${pointer} ${message}: ${hint}. Submit it so, and promote that job.`,
    };
  });
  const [first] = details;
  const more = found.length > 1 ? `; and ${found.length - 1} more` : "";
  const message = `the program of job ${jobId} has ${found.length === 1 ? "1 fault" : `${found.length} faults`}: ${first?.help ?? ""}${more}`;
  return faults({ code: "invalid_argument", message, details });
}
