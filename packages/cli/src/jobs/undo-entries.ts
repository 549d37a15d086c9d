import { UndoEntrySchema } from "@svc/gen/jobs";
import type { Command } from "commander";
import { addProjectOptions, openProjectClient, type ProjectOptions } from "../client/open-client.ts";
import { collectPages } from "../client/pages.ts";
import type { CommandContext } from "../command/context.ts";
import { addExamples } from "../command/examples.ts";
import { addJson, type JsonOption, parseCount } from "../command/options.ts";
import { messageListText } from "../text/message.ts";
import { tableLines } from "../text/table.ts";

/** Adds `svc jobs undo-entries`. */
export function addJobUndoEntries(jobs: Command, context: CommandContext): void {
  const entries = jobs
    .command("undo-entries")
    .description("list how what a job did may be undone, or was: one entry a call, in the order they were made")
    .argument("<id>", "id of the job, job_…")
    .option("--limit <count>", "most entries to list", parseCount, 100)
    .action(async (jobId: string, options: ProjectOptions & JsonOption & { limit: number }) => {
      const { jobs: client } = await openProjectClient(options, context);
      const { limit } = options;
      const found = await collectPages(async (pageToken) => {
        const page = await client.listUndoEntries({ jobId, pageSize: Math.min(limit, 500), pageToken });
        return { items: page.entries, nextPageToken: page.nextPageToken };
      }, limit);
      if (options.json) return context.print(messageListText(UndoEntrySchema, found));
      const rows = found.map(({ entry, stepId, ordinal, toolSlug, entityId, state }) => {
        return [String(entry), stepId, String(ordinal), toolSlug, entityId || "-", state];
      });
      for (const line of tableLines(["ENTRY", "STEP", "ROW", "TOOL", "ENTITY", "STATE"], rows)) context.print(line);
    });
  addExamples(addProjectOptions(addJson(entries, "the entries as a JSON list")), [
    "svc jobs undo-entries job_01h455vb4pex5vsknk084sn02q",
  ]);
}
