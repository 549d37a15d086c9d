import { JobEventSchema } from "@svc/gen/jobs";
import type { JobEvent } from "@svc/sdk";
import type { Command } from "commander";
import { addProjectOptions, openProjectClient, type ProjectOptions } from "../client/open-client.ts";
import { collectPages } from "../client/pages.ts";
import type { CommandContext } from "../command/context.ts";
import { addExamples } from "../command/examples.ts";
import { addJson, type JsonOption } from "../command/options.ts";
import { messageLine } from "../text/message.ts";
import { plainText } from "../text/plain.ts";
import { tableLines, timeText } from "../text/table.ts";

type LogOptions = ProjectOptions & JsonOption;

/** Adds `svc jobs log`. */
export function addJobLog(jobs: Command, context: CommandContext): void {
  const log = jobs
    .command("log")
    .description("print the log of a job as it is now: what happened, when, and who caused it")
    .argument("<id>", "id of the job, job_…")
    .action((id: string, options: LogOptions) => printLog(id, options, context));
  addExamples(addProjectOptions(addJson(log, "the entries as JSON, one a line")), [
    "svc jobs log job_01h455vb4pex5vsknk084sn02q",
    "svc jobs log job_01h455vb4pex5vsknk084sn02q --json | jq .type",
  ]);
}

async function printLog(jobId: string, options: LogOptions, context: CommandContext): Promise<void> {
  const { jobs } = await openProjectClient(options, context);
  const events = await collectPages(async (pageToken) => {
    const { events: items, nextPageToken } = await jobs.listJobEvents({ jobId, pageSize: 1000, pageToken });
    return { items, nextPageToken };
  });
  if (options.json) {
    for (const event of events) context.print(messageLine(JobEventSchema, event));
    return;
  }
  const header = ["SEQ", "AT", "TYPE", "STEP", "CAUSED BY", "PARTICULARS"];
  for (const line of tableLines(header, events.map(eventRow))) context.print(line);
}

/** The last of a chain caused the entry itself; the rest is in its JSON. */
function eventRow({ seq, at, type, stepId, principalChain, payloadJson }: JobEvent): string[] {
  const cause = plainText(principalChain.at(-1) ?? "-");
  return [String(seq), timeText(at), type, stepId || "-", cause, plainText(payloadJson)];
}
