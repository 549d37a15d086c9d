import { constants } from "node:os";
import { systemClock } from "@svc/core";
import { BackfillSchema } from "@svc/gen/standing";
import { BackfillState, type SvcClient } from "@svc/sdk";
import type { CommandContext } from "../command/context.ts";
import { CommandError } from "../command/error.ts";
import type { JsonOption } from "../command/options.ts";
import { messageText } from "../text/message.ts";
import { backfillProgressText, backfillStateText, hasBackfillEnded } from "./backfill-text.ts";

const pollMs = 1_000;
const interruptedExitCode = 128 + constants.signals.SIGINT;

/** How a watch ends, for the help of the command. */
export const backfillWatchNotes = `
With --watch, progress goes to standard error, on a terminal as one line that is drawn in place. Ctrl-C leaves the backfill to go on.

Exit status: 0 done, 1 cancelled, or the service refused or was lost, 2 wrong options, 130 Ctrl-C.`;

/** Shows a backfill until it has ended. Rejects with CommandError where it was cancelled, or the watch was interrupted. */
export async function watchBackfill(
  { standing }: Pick<SvcClient, "standing">,
  id: string,
  { options, context }: { options: JsonOption; context: CommandContext },
): Promise<void> {
  const signal = context.untilInterrupted();
  let shown = "";
  for (;;) {
    const { backfill } = await standing.getBackfill({ id });
    if (backfill === undefined) return;
    const line = `${backfillStateText(backfill)}: ${backfillProgressText(backfill)}`;
    if (context.screen !== undefined) context.screen.draw([{ text: line, style: "none" }]);
    else if (line !== shown) context.note(line);
    shown = line;
    if (hasBackfillEnded(backfill)) {
      context.screen?.keep();
      if (options.json) context.print(messageText(BackfillSchema, backfill));
      if (backfill.state === BackfillState.DONE) return;
      throw new CommandError(`the backfill was ${backfillStateText(backfill)}`, 1);
    }
    await systemClock.wait(pollMs, signal);
    if (signal.aborted) {
      const left = `the watch was interrupted; the backfill goes on: \`svc standing backfill ${id} --watch\``;
      throw new CommandError(left, interruptedExitCode);
    }
  }
}
