import { constants } from "node:os";
import { systemClock } from "@svc/core";
import { type Erasure, ErasureSchema } from "@svc/gen/admin";
import type { SvcAdminClient } from "@svc/sdk";
import type { CommandContext } from "../command/context.ts";
import { CommandError } from "../command/error.ts";
import type { JsonOption } from "../command/options.ts";
import { messageText } from "../text/message.ts";
import { plainText } from "../text/plain.ts";
import { countText, tableLines } from "../text/table.ts";

/** Options of a command that erases. */
export type ErasureOptions = { yes?: true; wait: boolean };

const everyMs = 1_000;
const interruptedExitCode = 128 + constants.signals.SIGINT;

/** Asks a person whether `what` is to be erased. Rejects with CommandError where that is not said, or there is nobody to ask. */
export async function confirmErasure(
  what: string,
  { yes }: ErasureOptions,
  { terminal }: CommandContext,
): Promise<void> {
  if (yes === true) return;
  if (terminal === undefined) throw new CommandError(`this erases ${plainText(what)} for good: say so with --yes`, 2);
  const answer = await terminal.ask(`This erases ${plainText(what)} for good. Type yes to go on: `);
  if (answer.trim() !== "yes") throw new CommandError("nothing was erased");
}

/** Waits for the end of an erasure, tells how far it is, and prints what it deleted. */
export async function followErasure(
  { admin }: SvcAdminClient,
  begun: Erasure | undefined,
  { json, wait }: ErasureOptions & JsonOption,
  context: CommandContext,
): Promise<void> {
  const signal = context.untilInterrupted();
  let erasure = begun;
  for (let told = ""; wait && erasure !== undefined && erasure.state !== "done"; ) {
    const line = progressLine(erasure);
    if (line !== told) context.note(line);
    told = line;
    await systemClock.wait(everyMs, signal);
    if (signal.aborted) {
      const left = `not waited for any more; the erasure goes on: \`svc erase --follow ${erasure.id}\``;
      throw new CommandError(left, interruptedExitCode);
    }
    ({ erasure } = await admin.getErasure({ id: erasure.id }));
  }
  if (erasure === undefined) return;
  if (json) return context.print(messageText(ErasureSchema, erasure));
  if (erasure.state !== "done") {
    context.print(erasure.id);
    return context.note(`It goes on. \`svc erase --follow ${erasure.id}\` tells how far it is.`);
  }
  const rows = Object.entries(erasure.counts).toSorted(([a], [b]) => (a < b ? -1 : 1));
  for (const line of tableLines(
    ["TABLE", "ROWS"],
    rows.map(([table, count]) => [table, String(count)]),
  ))
    context.print(line);
  context.note(`${erasure.id} is done: ${countText(sumOf(erasure), "row")} deleted.`);
}

function progressLine(erasure: Erasure): string {
  const { state, pass, jobsLeft } = erasure;
  const deleted = `${erasure.id} ${state}, pass ${pass}: ${countText(sumOf(erasure), "row")} deleted`;
  return jobsLeft === 0 ? deleted : `${deleted}, ${countText(jobsLeft, "job")} to end first`;
}

function sumOf({ counts }: Erasure): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}
