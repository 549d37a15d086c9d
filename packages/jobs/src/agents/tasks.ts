import { answerAsk } from "@svc/asks";
import { Fault, isObject, parseId, partedOf } from "@svc/core";
import type { ListedJob } from "@svc/db/jobs/find-listed";
import {
  complete,
  invalidParams,
  type McpContext,
  type McpOffer,
  type McpOutcome,
  type Params,
  refused,
  spokenText,
} from "@svc/tools";
import { cancelJob, findFollowed } from "./find-job.ts";
import { type AgentJobsContext, findTaskAsk, isAskedOfUser, readAskAnswer } from "./task-ask.ts";
import { taskOf } from "./task-state.ts";

/** Name of the MCP extension (tasks) with which clients follow work that takes long. */
const tasksExtension = "io.modelcontextprotocol/tasks";

/** MCP error code of the answer to a client that did not declare a capability that its request needs. */
const missingCapabilityCode = -32_021;

/** True if the client declares in its request that it supports tasks, an extension of MCP. */
export function knowsTasks({ client }: Pick<McpContext, "client">): boolean {
  const extensions = client?.["extensions"];
  return isObject(extensions) && isObject(extensions[tasksExtension]);
}

/** Returns the methods with which clients read, answer and cancel jobs as tasks. All state is in the database, so any node can answer. */
export function createTasksOffer(context: AgentJobsContext): McpOffer {
  const followed =
    (answer: (job: ListedJob, params: Params, asking: McpContext) => Promise<McpOutcome>) =>
    async (params: Params, asking: McpContext): Promise<McpOutcome> => {
      if (!knowsTasks(asking)) return refused(missingCapability());
      const { taskId } = params;
      const id = typeof taskId === "string" ? parseId("job", taskId) : undefined;
      const job = id && (await findFollowed(context, asking.principal, id));
      return job === undefined ? refused(invalidParams("Task not found")) : answer(job, params, asking);
    };
  return {
    revisions: ["2026-07-28"],
    capabilities: { extensions: { [tasksExtension]: {} } },
    methods: {
      "tasks/get": {
        nameIn: "taskId",
        answer: followed(async (job, _params, asking) => complete(await taskOf(context, job, asking))),
      },
      "tasks/update": {
        nameIn: "taskId",
        answer: followed((job, { inputResponses }, { principal, enter }) =>
          update(context, job, { inputResponses, principal, enter }),
        ),
      },
      "tasks/cancel": {
        nameIn: "taskId",
        answer: followed(async (job, _params, { principal, enter }) =>
          enter({ action: "JobsService.CancelJob", subject: job.id }, async () => {
            await cancelJob(context, job, principal);
            return complete({});
          }),
        ),
      },
    },
  };
}

function missingCapability() {
  const data = { requiredCapabilities: { extensions: { [tasksExtension]: {} } } };
  return { code: missingCapabilityCode, message: "Missing required client capability", data };
}

/** Answers the open question of a job with the response of the MCP client's user. Responses to other questions are ignored. */
async function update(
  context: AgentJobsContext,
  job: ListedJob,
  { inputResponses, principal, enter }: { readonly inputResponses: unknown } & Pick<McpContext, "principal" | "enter">,
): Promise<McpOutcome> {
  if (!isObject(inputResponses)) return refused(invalidParams("params.inputResponses must be an object"));
  const asked = await findTaskAsk(context, job);
  const response = asked && inputResponses[asked.ask.id];
  if (asked === undefined || response === undefined || !(await isAskedOfUser(context, asked, principal)))
    return complete({});
  const answer = readAskAnswer(asked.ask, response);
  if (answer === undefined) return complete({});
  const { projectId, keyId, role } = principal;
  const { id: requestId, principalId } = asked.ask;
  try {
    const by = { projectId, keyId, role, principalId, deliveryId: "" };
    const deed = { action: "JobsService.AnswerAsk", subject: requestId, entityId: principalId };
    await enter(deed, () => answerAsk(context, { ...answer, ...by, jobId: asked.job.id, requestId }));
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    const [{ reason } = { reason: "INTERNAL" }] = error.details;
    // The question was already answered or withdrawn, so this answer is ignored.
    if (reason === "ASK_SETTLED" || reason === "ASK_STALE") return complete({});
    return refused(
      invalidParams(`${spokenText(error.says)}. ${spokenText(partedOf(error.advice[0] ?? ""))}`, { reason }),
    );
  }
  return complete({});
}
