import { createHash } from "node:crypto";
import type { ServiceImpl } from "@connectrpc/connect";
import { askFaults } from "@svc/asks";
import {
  assertExhaustive,
  Fault,
  type Id,
  isObject,
  parseExactJson,
  quotaFaults,
  requireId,
  requireProject,
} from "@svc/core";
import type { JobsService, RetryJobRequest } from "@svc/gen/jobs";
import { canonicalJson, type JsonObject } from "@svc/program";
import type { RetryOfJob, RetryResult } from "../drive/start/retry-job.ts";
import { jobFaults } from "../errors.ts";
import { checkApproval, confirmerOf } from "./confirmer.ts";
import { type JobsContext, readIdempotencyKey } from "./context.ts";
import { faultOfParams, readJob } from "./read.ts";
import { rerunJob } from "./rerun.ts";

const charactersMax = 65_536;

type Methods = Pick<ServiceImpl<typeof JobsService>, "retryJob" | "rerunJob">;

/** Returns the handlers of the API methods RetryJob (continue an ended job) and RerunJob (run a job's steps again). */
export function attemptMethods(context: JobsContext): Methods {
  const { hints } = context;
  return {
    async retryJob(request, ctx) {
      const principal = requireProject(ctx);
      const jobId = await retryOne(context, principal, request);
      hints.notify(jobId);
      return { job: await readJob(context, principal.projectId, "id", jobId) };
    },
    async rerunJob(request, ctx) {
      const { projectId, keyId, role, confirm } = requireProject(ctx);
      const jobId = requireId("job", "id", request.id);
      const { inputJson, repin: repins } = request;
      const params = readParams(request.paramsJson);
      const idempotencyKey = readIdempotencyKey(request.idempotencyKey);
      const rerun = { jobId, projectId, keyId, role, confirm, inputJson, params, repins, idempotencyKey };
      const { id, drift } = await rerunJob(context, rerun);
      const job = await readJob(context, projectId, "id", id);
      return { job, drift: drift.map((one) => ({ ...one })) };
    },
  };
}

/** Starts the next attempt of a job, and returns the id of the job. Throws the errors that the API declares for RetryJob. */
export async function retryOne(
  { engine }: Pick<JobsContext, "engine">,
  principal: ReturnType<typeof requireProject>,
  request: RetryJobRequest,
): Promise<Id<"job">> {
  const jobId = requireId("job", "id", request.id);
  assertDone(request, await engine.retry(readRetry(jobId, request, principal)));
  return jobId;
}

function readRetry(
  jobId: Id<"job">,
  request: RetryJobRequest,
  { projectId, keyId, role, confirm }: ReturnType<typeof requireProject>,
): RetryOfJob {
  const { fromStepId, resendUnknown } = request;
  const params = readParams(request.paramsJson);
  return {
    jobId,
    projectId,
    keyId,
    fromStepId,
    params,
    resendsUnknown: resendUnknown,
    chain: [`key:${keyId}`],
    idempotencyKey: readIdempotencyKey(request.idempotencyKey),
    contentDigest: createHash("sha256")
      .update(canonicalJson([fromStepId, params, resendUnknown]))
      .digest(),
    checkParams: faultOfParams,
    async needsApproval(tx, plan) {
      const needed = await checkApproval(tx, { projectId, role }, plan);
      if (needed instanceof Fault) throw needed;
      return needed;
    },
    confirmBy: (tx, estimate) => confirmerOf(tx, { projectId, keyIds: [keyId], confirm }, estimate),
  };
}

function assertDone({ id, idempotencyKey }: RetryJobRequest, retried: RetryResult): void {
  switch (retried.outcome) {
    case "done":
    case "earlier":
      return;
    case "missing":
      throw askFaults.JOB_NOT_FOUND("id", id);
    case "key_reused":
      throw jobFaults.IDEMPOTENCY_KEY_REUSED(idempotencyKey);
    case "not_retryable":
      throw jobFaults.JOB_NOT_RETRYABLE(id, retried.why);
    case "step_unknown":
      throw jobFaults.JOB_STEP_UNKNOWN(retried.why);
    case "params_invalid":
      throw jobFaults.OVERRIDES_INVALID(retried.why);
    case "quota":
      throw quotaFaults.jobs(retried.reached.quotaReached);
    default:
      assertExhaustive(retried);
  }
}

/** Returns the values that a caller gives for the params of a program. Throws OVERRIDES_INVALID if the text is not a JSON object. */
function readParams(paramsJson: string): JsonObject {
  if (paramsJson === "") return {};
  if (paramsJson.length > charactersMax)
    throw jobFaults.OVERRIDES_INVALID(`has ${paramsJson.length} characters, above ${charactersMax}`);
  const params = parsed(paramsJson);
  if (!isObject(params)) throw jobFaults.OVERRIDES_INVALID('is not a JSON object, such as {"minValue": 1000}');
  return params as JsonObject;
}

function parsed(text: string): unknown {
  try {
    return parseExactJson(text);
  } catch {
    return undefined;
  }
}
