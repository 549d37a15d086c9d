import { askFaults, askPort } from "@svc/asks";
import { type Id, parseId } from "@svc/core";
import type { ListedJob } from "@svc/db/jobs/find-listed";
import { type AgentTool, answered, type ListedTool, type McpContext, type ToolAnswer } from "@svc/tools";
import { readIdempotencyKey } from "../api/context.ts";
import { toNotes, withNotes } from "../api/notes.ts";
import { submit } from "../api/submit.ts";
import { jobFaults } from "../errors.ts";
import { cancelJob, endedAnswer, findFollowed, lastLogged, loggedText } from "./find-job.ts";
import { type AgentJobsContext, findTaskAsk } from "./task-ask.ts";
import { newTaskOf, stateText } from "./task-state.ts";
import { knowsTasks } from "./tasks.ts";

/** Longest time that an agent's call waits for a job, in seconds: less than clients wait for an answer. */
const waitSecondsMax = 25;

const listed: ListedTool = {
  name: "run_program",
  title: "Run a program",
  description:
    "Runs a program: several calls as one job, over many rows, with conditions, loops, questions to people and undo, which runs on the server to its end. " +
    "Use it instead of many calls if some calls need answers of others. Returns the program's declared result, or after 25 s the job's id: call it " +
    "again with job_id to keep waiting. check_program returns how to write programs.",
  inputSchema: {
    type: "object",
    additionalProperties: false,
    properties: {
      program: { type: "object", description: "The program, as check_program takes it." },
      idempotency_key: { type: "string", description: "The same key with the same program runs it only once." },
      simulate: { type: "boolean", description: "If true, reads run as usual and no write is sent." },
      job_id: { type: "string", description: "Instead of program: a job that has started, to wait for its end." },
      cancel: { type: "boolean", description: "With job_id: ends that job. Calls that it has sent are not undone." },
      wait_seconds: {
        type: "integer",
        minimum: 0,
        maximum: waitSecondsMax,
        description: `Maximum seconds to wait for its end. Default ${waitSecondsMax}.`,
      },
    },
  },
  annotations: { readOnlyHint: false, destructiveHint: true, openWorldHint: true },
};

/** Arguments of run_program after its schema was checked. */
type RunArguments = {
  readonly program?: object;
  readonly idempotency_key?: string;
  readonly simulate?: boolean;
  readonly job_id?: string;
  readonly cancel?: boolean;
  readonly wait_seconds?: number;
};

/**
 * Creates the tool that runs programs as jobs. If a job does not end in time, the tool returns a task to clients that support tasks, or
 * else the job's id. The job continues even if the client disconnects.
 */
export function createRunProgramTool(context: AgentJobsContext): AgentTool {
  return {
    group: "programs",
    listed,
    async answer(given, asking) {
      const args = given as RunArguments;
      const { id: jobId, notes } = args.job_id === undefined ? await begin(context, args, asking) : idOf(args);
      if (args.cancel === true) await end(context, jobId, asking);
      const waitMs = Number(args.wait_seconds ?? waitSecondsMax) * 1_000;
      const { signal } = asking;
      // Throws if the caller may not follow this job, so that the call never waits for such a job.
      if (args.job_id !== undefined) await followedJob(context, jobId, asking);
      await context.waits.until({ jobId, waitMs, signal, onGrown: progressOf(context, jobId, asking) });
      const job = await followedJob(context, jobId, asking);
      if (job.finishedAt !== null) return withNotes(await endedAnswer(context, job), notes);
      if (knowsTasks(asking)) return { task: await newTaskOf(context, job) };
      return withNotes(await openAnswer(context, job), notes);
    },
  };
}

/**
 * Returns the id of the job that `job_id` names. Throws JOB_NOT_FOUND if the text is not a job id. Throws RUN_ARGUMENTS_UNCLEAR if the call
 * also has arguments for a new job.
 */
function idOf({ job_id: text = "", program, idempotency_key, simulate }: RunArguments) {
  if (program !== undefined || idempotency_key !== undefined || simulate !== undefined)
    throw jobFaults.RUN_ARGUMENTS_UNCLEAR();
  const id = parseId("job", text);
  if (id === undefined) throw askFaults.JOB_NOT_FOUND("job_id", text);
  return { id, notes: [] };
}

/**
 * Submits the program. Returns the new job's id and the notes on the program. Throws the errors of SubmitJob, and RUN_ARGUMENTS_UNCLEAR if
 * the program is missing.
 */
async function begin(context: AgentJobsContext, args: RunArguments, { principal }: McpContext) {
  const { program, idempotency_key: key = "", simulate = false, cancel = false } = args;
  if (program === undefined || cancel) throw jobFaults.RUN_ARGUMENTS_UNCLEAR();
  const { projectId, keyId, role, binding = null, confirm } = principal;
  const submitted = await submit(
    { ...context, asks: askPort },
    {
      ...{ projectId, keyId, role, binding, confirm },
      programJson: JSON.stringify(program),
      mode: simulate ? "simulate" : "live",
      simulateFirst: false,
      idempotencyKey: readIdempotencyKey(key),
    },
  );
  if ("refusal" in submitted) throw submitted.refusal;
  return { id: submitted.id, notes: toNotes(submitted.notes, "program") };
}

/** Requests that a job ends, as CancelJob of the API does. Throws JOB_NOT_FOUND if the MCP client has no permission to see the job. */
async function end(context: AgentJobsContext, jobId: Id<"job">, { principal, enter }: McpContext): Promise<void> {
  const job = await followedJob(context, jobId, { principal });
  await enter({ action: "JobsService.CancelJob", subject: jobId }, () => cancelJob(context, job, principal));
}

/** Returns a job that the caller has permission to see. Throws JOB_NOT_FOUND if the caller has no permission or the job does not exist. */
async function followedJob(
  context: AgentJobsContext,
  jobId: Id<"job">,
  { principal }: Pick<McpContext, "principal">,
): Promise<ListedJob> {
  const job = await findFollowed(context, principal, jobId);
  if (job === undefined) throw askFaults.JOB_NOT_FOUND("job_id", jobId);
  return job;
}

/** Returns a function that reports a job's progress to the client. Returns undefined if the client did not ask for progress. */
function progressOf(context: AgentJobsContext, jobId: Id<"job">, { principal, progressToken, notify }: McpContext) {
  if (progressToken === undefined) return undefined;
  return async () => {
    const job = await findFollowed(context, principal, jobId);
    const event = job && (await lastLogged(context, job));
    if (event === undefined) return;
    notify("notifications/progress", { progressToken, progress: event.seq, message: loggedText(event) });
  };
}

/**
 * Returns the answer about an unfinished job for an MCP client that does not support tasks: the job's state, and what to do next. If the
 * job waits for a person, the text asks the client not to call again before the person answers.
 */
async function openAnswer(context: AgentJobsContext, job: ListedJob): Promise<ToolAnswer> {
  const asked = await findTaskAsk(context, job);
  const progress = await stateText(context, job, asked);
  const waitsFor = asked && {
    principalId: asked.ask.principalId,
    question: asked.ask.question,
    askId: asked.ask.id,
    jobId: asked.job.id,
  };
  const again = `run_program with job_id "${job.id}"`;
  const next =
    asked === undefined
      ? `It continues on the server; call ${again} to keep waiting.`
      : `Do not call again to wait: nothing happens before the person answers. Notify the user, and call ${again} when they say that it is answered.`;
  return answered(
    { jobId: job.id, status: job.status, progress, ...(waitsFor && { waitsFor }) },
    `${job.id} has not ended: ${progress}. ${next} To end it, add "cancel": true.`,
  );
}
