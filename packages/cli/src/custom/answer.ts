import { JobSchema, JobsService } from "@svc/gen/jobs";
import type { SvcClient } from "@svc/sdk";
import type { ProjectOptions } from "../command/client.ts";
import { command, type Run } from "../command/declared.ts";
import { CommandError } from "../command/error.ts";
import { readJsonOption } from "../command/input.ts";
import type { JsonOption } from "../command/options.ts";
import { messageText } from "../text/message.ts";
import { findAsk } from "./asks/question.ts";
import { hasEnded, standingText } from "./jobs/text.ts";
import { repeatedOptions } from "./jobs/watch/watch-job.ts";

type AnswerOptions = ProjectOptions & JsonOption & { as: string; overrides?: string; note?: string };

const continuations = ["proceed", "retry-with", "skip", "abort"];

const notes = `
The key vouches for the contact. Approvals need a key with the role approver, and a contact who is an approver.`;

/** The command `svc answer`, which answers the question of a job and prints the job's new state. */
export const addAnswerCommand = command(
  JobsService.method.answerAsk,
  {
    says: "answer the question of a job, and print the job's new state",
    takes: {
      "<ask>": "id of the question, ask_…, or of the job that waits for one, job_…",
      "<continuation>": ["a continuation that the point declares", { choices: continuations }],
    },
    options: [
      ["--as <principal>", "the contact who answers; the question must have reached the contact", { required: true }],
      ["--overrides <json>", "for retry-with: the changes as JSON, or @file, or @- for standard input"],
      ["--note <text>", "a remark to store with the decision, up to 2,000 characters"],
    ],
    json: "the job as JSON",
    more: notes,
    examples: [
      "svc answer ask_01h455vb4pex5vsknk084sn02q proceed --as lead",
      `svc answer ask_01h455vb4pex5vsknk084sn02q retry-with --as lead --overrides '{"minGuests": 3}'`,
      "svc answer job_01h455vb4pex5vsknk084sn02q abort --as owner --note 'Not before the release'",
    ],
  },
  async ({
    values: options,
    context,
    project,
    asJson,
  }: Run<AnswerOptions & { readonly ask: string; readonly continuation: string }>) => {
    const { ask: id, continuation } = options;
    const overridesJson =
      options.overrides === undefined ? "" : await readJsonOption("--overrides", options.overrides, context);
    const client = await project();
    const { as: principalId, note = "" } = options;
    const { job } = await client.jobs.answerAsk({
      ...(await findQuestion(client, id)),
      ...{ principalId, continuation, overridesJson, note },
    });
    if (job === undefined) return;
    context.print(asJson ? messageText(JobSchema, job) : `${job.id} is ${standingText(job)}`);
    // A job that has ended needs no watching.
    if (!hasEnded(job))
      context.note(`\`${["svc jobs watch", job.id, ...repeatedOptions(options)].join(" ")}\` follows it.`);
  },
);

/**
 * Returns the ids of a job and of its question. With both ids the answer goes to exactly this question, even if the job asks another
 * question before the answer arrives.
 */
async function findQuestion(client: SvcClient, id: string): Promise<{ jobId: string; requestId: string }> {
  if (id.startsWith("ask_")) return { jobId: (await findAsk(client, id)).jobId, requestId: id };
  if (!id.startsWith("job_"))
    throw new CommandError(`${JSON.stringify(id)} is not an id of a question (ask_…) or job (job_…)`);
  const { job } = await client.jobs.getJob({ id });
  return { jobId: id, requestId: job?.park?.judgment?.requestId ?? "" };
}
