import { JobSchema } from "@svc/gen/jobs";
import type { SvcClient } from "@svc/sdk";
import { Argument, type Command } from "commander";
import { findAsk } from "./asks/find-ask.ts";
import { addProjectOptions, openProjectClient, type ProjectOptions } from "./client/open-client.ts";
import type { CommandContext } from "./command/context.ts";
import { CommandError } from "./command/error.ts";
import { addExamples } from "./command/examples.ts";
import { readJsonOption } from "./command/input.ts";
import { addJson, type JsonOption } from "./command/options.ts";
import { hasEnded, standingText } from "./jobs/text.ts";
import { repeatedOptions } from "./jobs/watch/watch-job.ts";
import { messageText } from "./text/message.ts";

type AnswerOptions = ProjectOptions & JsonOption & { as: string; overrides?: string; note?: string };

const continuations = ["proceed", "retry-with", "skip", "abort"];

/** Adds `svc answer`. */
export function addAnswerCommand(program: Command, context: CommandContext): void {
  const answer = program
    .command("answer")
    .description("answer the question of a job, and print where the job stands then")
    .argument("<ask>", "id of the question, ask_…, or of the job that waits on one, job_…")
    .addArgument(new Argument("<continuation>", "one that the point declares").choices(continuations))
    .requiredOption("--as <principal>", "the contact that answers; one that the question has reached")
    .option("--overrides <json>", "of retry-with: the changes as JSON, or @file, or @- for standard input")
    .option("--note <text>", "a remark to keep with the decision, up to 2,000 characters")
    .action((id: string, continuation: string, options: AnswerOptions) => {
      return answerAsk({ id, continuation }, options, context);
    });
  addProjectOptions(addJson(answer, "the job as JSON")).addHelpText("after", notes);
  addExamples(answer, [
    "svc answer ask_01h455vb4pex5vsknk084sn02q proceed --as lead",
    `svc answer ask_01h455vb4pex5vsknk084sn02q retry-with --as lead --overrides '{"minGuests": 3}'`,
    "svc answer job_01h455vb4pex5vsknk084sn02q abort --as owner --note 'Not before the release'",
  ]);
}

const notes = `
The key vouches for the contact. Approvals need a key of the role approver, and a contact that is one.`;

async function answerAsk(
  { id, continuation }: { id: string; continuation: string },
  options: AnswerOptions,
  context: CommandContext,
): Promise<void> {
  const overridesJson =
    options.overrides === undefined ? "" : await readJsonOption("--overrides", options.overrides, context);
  const client = await openProjectClient(options, context);
  const { as: principalId, note = "" } = options;
  const { job } = await client.jobs.answerAsk({
    ...(await findQuestion(client, id)),
    ...{ principalId, continuation, overridesJson, note },
  });
  if (job === undefined) return;
  context.print(options.json ? messageText(JobSchema, job) : `${job.id} is ${standingText(job)}`);
  // Of a job that has ended there is nothing to follow.
  if (!hasEnded(job))
    context.note(`\`${["svc jobs watch", job.id, ...repeatedOptions(options)].join(" ")}\` follows it.`);
}

/** Both ids of a question, so that the answer goes to the one that was meant even if another is asked meanwhile. */
async function findQuestion(client: SvcClient, id: string): Promise<{ jobId: string; requestId: string }> {
  if (id.startsWith("ask_")) return { jobId: (await findAsk(client, id)).jobId, requestId: id };
  if (!id.startsWith("job_"))
    throw new CommandError(`${JSON.stringify(id)} is no id of a question (ask_…) or job (job_…)`);
  const { job } = await client.jobs.getJob({ id });
  return { jobId: id, requestId: job?.park?.judgment?.requestId ?? "" };
}
