import type { Command } from "commander";
import { addProjectOptions, openProjectClient } from "../client/open-client.ts";
import type { CommandContext } from "../command/context.ts";
import { addExamples } from "../command/examples.ts";
import { addWatchOptions, type WatchOptions, watchJob, watchNotes } from "./watch/watch-job.ts";

/** Adds `svc jobs watch`. */
export function addJobWatch(jobs: Command, context: CommandContext): void {
  const watch = jobs
    .command("watch")
    .description("show a job's progress from its start to its end: steps, rows, pace, time left, and its questions")
    .argument("<id>", "id of the job, job_…")
    .action(async (id: string, options: WatchOptions) => {
      const client = await openProjectClient(options, context);
      await watchJob(client, id, { options, context });
    });
  addProjectOptions(addWatchOptions(watch)).addHelpText("after", watchNotes);
  addExamples(watch, [
    "svc jobs watch job_01h455vb4pex5vsknk084sn02q",
    "svc jobs watch job_01h455vb4pex5vsknk084sn02q --no-wait || echo $?",
  ]);
}
