import { toJson } from "@bufbuild/protobuf";
import { JobEventSchema } from "@svc/gen/jobs";
import type { JobEvent } from "@svc/sdk";
import type { Command } from "commander";
import type { CommandContext } from "./command-context.ts";
import { addProjectOptions, connectProject, type ProjectOptions } from "./connection.ts";
import { addExamples } from "./examples.ts";
import { plainText } from "./job-text.ts";
import { tableLines, timeText } from "./output.ts";
import { collectPages } from "./pages.ts";

type LogOptions = ProjectOptions & { json?: true };

/** Adds `svc jobs log`. */
export function addJobLog(jobs: Command, context: CommandContext): void {
  const log = jobs
    .command("log")
    .description("print the log of a job as it is now: what happened, when, and who caused it")
    .argument("<id>", "id of the job, job_…")
    .option("--json", "print the service's messages as JSON, one a line")
    .action((id: string, options: LogOptions) => printLog(id, options, context));
  addExamples(addProjectOptions(log), [
    "svc jobs log job_01h455vb4pex5vsknk084sn02q",
    "svc jobs log job_01h455vb4pex5vsknk084sn02q --json | jq .type",
  ]);
}

async function printLog(jobId: string, options: LogOptions, context: CommandContext): Promise<void> {
  const { jobs } = await connectProject(options, context);
  const events = await collectPages(async (pageToken) => {
    const { events: items, nextPageToken } = await jobs.listJobEvents({ jobId, pageSize: 1000, pageToken });
    return { items, nextPageToken };
  });
  if (options.json) {
    for (const event of events) {
      context.print(JSON.stringify(toJson(JobEventSchema, event, { alwaysEmitImplicit: true })));
    }
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
