import type { CommandContext } from "../command/context.ts";
import { CommandError } from "../command/error.ts";
import { documentFaults, type Note, noteLines, readProgramFile } from "../jobs/program-file.ts";

/** Reads a definition from a file, or from standard input for `-`, and sends it; its faults are printed with their lines, and what is noted about it is returned. */
export async function sendDefinition<Answer extends { readonly notes: readonly Note[] }>(
  file: string,
  context: CommandContext,
  send: (definitionJson: string) => Promise<Answer>,
): Promise<{ readonly answer: Answer; readonly notes: readonly string[] }> {
  const definition = await readProgramFile(file, [], context);
  const answer = await send(definition.programJson).catch(async (err: unknown) => {
    const faults = await documentFaults(err, definition, "definitionJson");
    if (faults === undefined) throw err;
    for (const line of faults.lines) context.note(line);
    throw new CommandError(faults.summary);
  });
  return { answer, notes: await noteLines(answer.notes, definition) };
}
