import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { JobSchema, JobView } from "@svc/gen/jobs";
import type { Job } from "@svc/sdk";
import { type Command, Option } from "commander";
import { addProjectOptions, openProjectClient, type ProjectOptions } from "../client/open-client.ts";
import { collectPages } from "../client/pages.ts";
import type { CommandContext } from "../command/context.ts";
import { addExamples } from "../command/examples.ts";
import { addJson, type JsonOption, parseCount, parseMoment } from "../command/options.ts";
import { messageListText } from "../text/message.ts";
import { plainText } from "../text/plain.ts";
import { tableLines, timeText } from "../text/table.ts";
import { standingText, statusNames, statusOfName } from "./text.ts";

type ListOptions = ProjectOptions &
  JsonOption & { status?: string; mode?: string; skill?: string; parent?: string; program?: string; limit: number } & {
    title?: string;
    since?: number;
    until?: number;
  };

/** Adds `svc jobs list`. */
export function addJobList(jobs: Command, context: CommandContext): void {
  const list = jobs
    .command("list", { isDefault: true })
    .description("list the project's latest jobs, newest first")
    .addOption(new Option("--status <status>", "only jobs of this status").choices([...statusNames]))
    .addOption(
      new Option(
        "--mode <mode>",
        "only live jobs, only simulated ones (those of --simulate-first too), or only those by which people are asked about a standing program",
      ).choices(["live", "simulate", "rehearse"]),
    )
    .option("--program <id>", "only jobs of this standing program, stp_…")
    .option("--skill <slug>", "only jobs of this skill, such as announce or skills.announce")
    .option("--parent <id>", "only the jobs that this one runs, job_…")
    .option("--title <text>", "only jobs whose title has this text")
    .option("--since <when>", "only jobs submitted then or later: 2h ago, or 2026-03-14T09:00:00Z", parseMoment)
    .option("--until <when>", "only jobs submitted before", parseMoment)
    .option("--limit <count>", "most jobs to list", parseCount, 20)
    .action((options: ListOptions) => listJobs(options, context));
  addExamples(addProjectOptions(addJson(list, "the jobs as a JSON list")), [
    "svc jobs list",
    "svc jobs list --status parked --limit 100",
    "svc jobs list --parent job_01h455vb4pex5vsknk084sn02q",
  ]);
}

async function listJobs(options: ListOptions, context: CommandContext): Promise<void> {
  const { jobs } = await openProjectClient(options, context);
  const { mode = "", skill = "", parent: parentJobId = "", program: standingProgramId = "", limit } = options;
  // The toolkit of all skills may be left out.
  const skillSlug = skill === "" || skill.includes(".") ? skill : `skills.${skill}`;
  const status = statusOfName(options.status ?? "");
  const { title: titleContains = "", since, until } = options;
  const range = {
    ...(since !== undefined && { since: timestampFromMs(since) }),
    ...(until !== undefined && { until: timestampFromMs(until) }),
  };
  // With --json all of a job is printed.
  const view = options.json ? JobView.UNSPECIFIED : JobView.SUMMARY;
  const found = await collectPages(async (pageToken) => {
    // A job brings its program along: small pages.
    const request = {
      status,
      mode,
      skillSlug,
      parentJobId,
      standingProgramId,
      titleContains,
      view,
      ...range,
      pageSize: Math.min(limit, 50),
      pageToken,
    };
    const { jobs: items, nextPageToken } = await jobs.listJobs(request);
    return { items, nextPageToken };
  }, limit);
  if (options.json) return context.print(messageListText(JobSchema, found));
  const header = ["SUBMITTED", "ID", "MODE", "STATUS", "TITLE"];
  for (const line of tableLines(header, found.map(jobRow))) context.print(line);
}

function jobRow(job: Job): string[] {
  const { id, mode, skillSlug, createdAt } = job;
  const title = plainText(job.title);
  return [timeText(createdAt), id, mode, standingText(job), skillSlug === "" ? title : `${title} (${skillSlug})`];
}
