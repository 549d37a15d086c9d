import { AskSchema } from "@svc/gen/jobs";
import { type Ask, AskState } from "@svc/sdk";
import { type Command, Option } from "commander";
import { addProjectOptions, openProjectClient, type ProjectOptions } from "../client/open-client.ts";
import { collectPages } from "../client/pages.ts";
import type { CommandContext } from "../command/context.ts";
import { addExamples } from "../command/examples.ts";
import { addJson, type JsonOption, parseCount } from "../command/options.ts";
import { namesOf } from "../jobs/text.ts";
import { messageListText } from "../text/message.ts";
import { plainText } from "../text/plain.ts";
import { tableLines, timeText } from "../text/table.ts";

type ListOptions = ProjectOptions &
  JsonOption & { state: string; principal?: string; job?: string; program?: string; limit: number };

const askStates = namesOf(AskState);
const states = ["pending", "answered", "defaulted", "withdrawn", "all"];

/** Adds `svc asks list`. */
export function addAskList(asks: Command, context: CommandContext): void {
  const list = asks
    .command("list", { isDefault: true })
    .description("list the project's questions, newest first: those that wait for an answer, unless stated")
    .addOption(new Option("--state <state>", "only questions in this state").choices(states).default("pending"))
    .option("--principal <id>", "only questions that this contact holds, or held when they were settled")
    .option("--job <id>", "only questions of this job, job_…")
    .option("--program <id>", "only questions of this standing program, stp_…")
    .option("--limit <count>", "most questions to list", parseCount, 100)
    .action((options: ListOptions) => listAsks(options, context));
  addExamples(addProjectOptions(addJson(list, "the questions as a JSON list")), [
    "svc asks list",
    "svc asks list --state answered --principal lead",
  ]);
}

async function listAsks(options: ListOptions, context: CommandContext): Promise<void> {
  const { jobs } = await openProjectClient(options, context);
  const { principal: principalId = "", job: jobId = "", program: standingProgramId = "", limit } = options;
  const state = AskState[options.state.toUpperCase() as keyof typeof AskState] ?? AskState.UNSPECIFIED;
  const found = await collectPages(async (pageToken) => {
    const request = { state, principalId, jobId, standingProgramId, pageSize: Math.min(limit, 500), pageToken };
    const { asks: items, nextPageToken } = await jobs.listAsks(request);
    return { items, nextPageToken };
  }, limit);
  if (options.json) return context.print(messageListText(AskSchema, found));
  const header = ["ASKED", "ID", "JOB", "STATE", "WITH", "QUESTION"];
  for (const line of tableLines(header, found.map(askRow))) context.print(line);
}

function askRow(ask: Ask): string[] {
  const { askedAt, requestId, jobId, principalId, question } = ask;
  return [timeText(askedAt), requestId, jobId, askStateText(ask), plainText(principalId), plainText(question)];
}

/** Where a question stands, such as `answered: proceed`. */
export function askStateText({ state, exhausted, decision }: Ask): string {
  const name = askStates.get(state) ?? String(state);
  if (state === AskState.PENDING && exhausted) return "pending, exhausted";
  return decision === undefined ? name : `${name}: ${decision.continuation}`;
}
