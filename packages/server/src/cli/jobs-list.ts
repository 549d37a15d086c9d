import type { Job } from "@svc/sdk";
import { type Command, InvalidArgumentError, Option } from "commander";
import type { CommandContext } from "./command-context.ts";
import { addProjectOptions, connectProject, type ProjectOptions } from "./connection.ts";
import { addExamples } from "./examples.ts";
import { readProgram } from "./job-program.ts";
import { plainText, standingText, statusNames, statusOfName } from "./job-text.ts";
import { tableLines, timeText } from "./output.ts";
import { collectPages } from "./pages.ts";

type ListOptions = ProjectOptions & { status?: string; mode?: string; skill?: string; limit: number };

/** Adds `svc jobs list`. */
export function addJobList(jobs: Command, context: CommandContext): void {
  const list = jobs
    .command("list", { isDefault: true })
    .description("list the project's latest jobs, newest first")
    .addOption(new Option("--status <status>", "only jobs of this status").choices([...statusNames]))
    .addOption(
      new Option("--mode <mode>", "only live jobs, or only simulated ones, those of --simulate-first too").choices([
        "live",
        "simulate",
      ]),
    )
    .option("--skill <slug>", "only jobs that calls of this skill submitted")
    .option("--limit <count>", "most jobs to list", parseCount, 20)
    .action((options: ListOptions) => listJobs(options, context));
  addExamples(addProjectOptions(list), ["svc jobs list", "svc jobs list --status parked --limit 100"]);
}

async function listJobs(options: ListOptions, context: CommandContext): Promise<void> {
  const { jobs } = await connectProject(options, context);
  const { mode = "", skill: skillSlug = "", limit } = options;
  const status = statusOfName(options.status ?? "");
  const found = await collectPages(async (pageToken) => {
    // A job brings its program along: small pages.
    const request = { status, mode, skillSlug, pageSize: Math.min(limit, 50), pageToken };
    const { jobs: items, nextPageToken } = await jobs.listJobs(request);
    return { items, nextPageToken };
  }, limit);
  const header = ["SUBMITTED", "ID", "MODE", "STATUS", "TITLE"];
  for (const line of tableLines(header, found.map(jobRow))) context.print(line);
}

function jobRow(job: Job): string[] {
  const { id, mode, skillSlug, createdAt } = job;
  const title = plainText(readProgram(job).title);
  return [timeText(createdAt), id, mode, standingText(job), skillSlug === "" ? title : `${title} (${skillSlug})`];
}

function parseCount(text: string): number {
  const count = /^\d{1,6}$/.test(text) ? Number(text) : 0;
  if (count >= 1) return count;
  throw new InvalidArgumentError("expected a whole number from 1 to 999999");
}
