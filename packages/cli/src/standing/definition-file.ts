import type { CommandContext } from "../command/context.ts";
import { CommandError } from "../command/error.ts";
import { documentFaults, readProgramFile } from "../jobs/program-file.ts";

/** Reads a definition from a file, or from standard input for `-`, and sends it; its faults are told with their lines. */
export async function sendDefinition<Answer>(
  file: string,
  context: CommandContext,
  send: (definitionJson: string) => Promise<Answer>,
): Promise<Answer> {
  const definition = await readProgramFile(file, [], context);
  return send(definition.programJson).catch(async (err: unknown) => {
    const faults = await documentFaults(err, definition, "definitionJson");
    if (faults === undefined) throw err;
    for (const line of faults.lines) context.note(line);
    throw new CommandError(faults.summary);
  });
}
