import { toJson } from "@bufbuild/protobuf";
import { AskSchema } from "@svc/gen/jobs";
import { type Ask, AskState } from "@svc/sdk";
import { type Command, InvalidArgumentError, Option } from "commander";
import type { CommandContext } from "./command-context.ts";
import { addProjectOptions, connectProject, type ProjectOptions } from "./connection.ts";
import { addExamples } from "./examples.ts";
import { findAsk } from "./job-ask.ts";
import { questionLines, questionOfAsk, questionOfJob } from "./job-question.ts";
import { namesOf, plainText } from "./job-text.ts";
import { tableLines, timeText } from "./output.ts";
import { collectPages } from "./pages.ts";
import { repeatedOptions } from "./watch-job.ts";

type ListOptions = ProjectOptions & { state: string; principal?: string; job?: string; limit: number };

const askStates = namesOf(AskState);
const states = ["pending", "answered", "defaulted", "withdrawn", "all"];

/** Adds `svc asks list|show`. */
export function addAsksCommand(program: Command, context: CommandContext): void {
  const asks = program.command("asks").description("list and show the questions that jobs put to people");
  addExamples(asks, ["svc asks", "svc asks list --principal lead --state all"]);
  addList(asks, context);
  addShow(asks, context);
}

function addList(asks: Command, context: CommandContext): void {
  const list = asks
    .command("list", { isDefault: true })
    .description("list the project's questions, newest first: those that wait for an answer, unless stated")
    .addOption(new Option("--state <state>", "only questions in this state").choices(states).default("pending"))
    .option("--principal <id>", "only questions that this contact holds, or held when they were settled")
    .option("--job <id>", "only questions of this job, job_…")
    .option("--limit <count>", "most questions to list", parseCount, 100)
    .action((options: ListOptions) => listAsks(options, context));
  addExamples(addProjectOptions(list), ["svc asks list", "svc asks list --state answered --principal lead"]);
}

async function listAsks(options: ListOptions, context: CommandContext): Promise<void> {
  const { jobs } = await connectProject(options, context);
  const { principal: principalId = "", job: jobId = "", limit } = options;
  const state = AskState[options.state.toUpperCase() as keyof typeof AskState] ?? AskState.UNSPECIFIED;
  const found = await collectPages(async (pageToken) => {
    const request = { state, principalId, jobId, pageSize: Math.min(limit, 500), pageToken };
    const { asks: items, nextPageToken } = await jobs.listAsks(request);
    return { items, nextPageToken };
  }, limit);
  const header = ["ASKED", "ID", "JOB", "STATE", "WITH", "QUESTION"];
  for (const line of tableLines(header, found.map(askRow))) context.print(line);
}

function askRow(ask: Ask): string[] {
  const { askedAt, requestId, jobId, principalId, question } = ask;
  return [timeText(askedAt), requestId, jobId, stateText(ask), plainText(principalId), plainText(question)];
}

function stateText({ state, exhausted, decision }: Ask): string {
  const name = askStates.get(state) ?? String(state);
  if (state === AskState.PENDING && exhausted) return "pending, exhausted";
  return decision === undefined ? name : `${name}: ${decision.continuation}`;
}

function addShow(asks: Command, context: CommandContext): void {
  const show = asks
    .command("show")
    .description("show one question: its ladder, how it was settled, and the commands that answer it")
    .argument("<id>", "id of the question, ask_…")
    .option("--json", "print the service's message as JSON")
    .action((id: string, options: ProjectOptions & { json?: true }) => showAsk(id, options, context));
  addExamples(addProjectOptions(show), ["svc asks show ask_01h455vb4pex5vsknk084sn02q"]);
}

async function showAsk(id: string, options: ProjectOptions & { json?: true }, context: CommandContext): Promise<void> {
  const client = await connectProject(options, context);
  const ask = await findAsk(client, id);
  if (options.json) {
    context.print(JSON.stringify(toJson(AskSchema, ask, { alwaysEmitImplicit: true }), undefined, 2));
    return;
  }
  const facts = factsOf(ask).filter(([, value]) => value !== "");
  const width = Math.max(...facts.map(([name]) => name.length));
  for (const [name, value] of facts) context.print(`${name.padEnd(width)}  ${value}`);
  if (ask.state !== AskState.PENDING) return;
  context.print("");
  const { job } = await client.jobs.getJob({ id: ask.jobId });
  const asked = job && questionOfJob(job);
  // The job knows its program's values too; by now it may wait on another question.
  const question = asked?.requestId === ask.requestId ? asked : questionOfAsk(ask);
  for (const line of questionLines(question, repeatedOptions(options))) context.print(line);
}

function factsOf(ask: Ask): [name: string, value: string][] {
  const { escalation, decision } = ask;
  const ladder = escalation.map(({ principalId, timeoutSeconds }) => {
    return `${plainText(principalId)}${timeoutSeconds === 0 ? "" : ` for ${timeoutSeconds} s`}`;
  });
  return [
    ["ask", ask.requestId],
    ["job", [ask.jobId, ask.stepId].filter(Boolean).join(", step ")],
    ["point", ask.pointId],
    ["state", stateText(ask)],
    ["question", plainText(ask.question)],
    ["asked", timeText(ask.askedAt)],
    ["ladder", ladder.join(", then ")],
    ["reached", ask.deliveredPrincipals.map(plainText).join(", ")],
    ["told by", [ask.toolSlug, ask.toolCallId].filter(Boolean).join(", ")],
    ["published", ask.delivery],
    ["settled", decision === undefined ? "" : timeText(decision.at)],
    ["by", decision === undefined ? "" : plainText(decision.principalId || "the clock")],
    ["with", decision === undefined ? "" : [decision.keyId, decision.surface].filter(Boolean).join(", ")],
    ["note", plainText(decision?.note ?? "")],
    ["overrides", decision?.overridesJson ?? ""],
  ];
}

function parseCount(text: string): number {
  const count = /^\d{1,6}$/.test(text) ? Number(text) : 0;
  if (count >= 1) return count;
  throw new InvalidArgumentError("expected a whole number from 1 to 999999");
}
