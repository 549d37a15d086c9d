import type { ServiceImpl } from "@connectrpc/connect";
import { askFaults } from "@svc/asks";
import { assertExhaustive, type Fault, type Id, requireId } from "@svc/core";
import type { AdminService } from "@svc/gen/admin";
import type { JobEngine } from "../drive/engine.ts";
import type { Forced, JobOfProject } from "../drive/schedule/force.ts";
import { jobFaults } from "../errors.ts";
import { isEnd } from "../state/statuses.ts";
import type { JobsContext } from "./context.ts";
import { readJob } from "./read.ts";

/** The methods of AdminService about jobs. */
export type JobAdministration = Pick<ServiceImpl<typeof AdminService>, "parkJob" | "releaseJob">;

/** What they work with. */
export type JobAdministrationContext = Pick<JobsContext, "db" | "sealer"> & {
  readonly engine: Pick<JobEngine, "park" | "release">;
};

/** Who asked, as the log names it: the deployment has one administrator. */
const byAdministrator: readonly string[] = ["administrator"];

/** Makes the methods of AdminService about jobs. Whoever reaches them is the administrator. */
export function createJobAdministration(context: JobAdministrationContext): JobAdministration {
  const { engine } = context;
  return {
    async parkJob(request) {
      const job = jobOf(request);
      assertDone(job.jobId, await engine.park(job, byAdministrator), jobFaults.JOB_NOT_PARKABLE);
      return { job: await readJob(context, job.projectId, "jobId", job.jobId) };
    },
    async releaseJob(request) {
      const job = jobOf(request);
      assertDone(job.jobId, await engine.release(job, byAdministrator), jobFaults.JOB_NOT_RELEASABLE);
      return { job: await readJob(context, job.projectId, "jobId", job.jobId) };
    },
  };
}

function jobOf(request: { readonly projectId: string; readonly jobId: string }): JobOfProject {
  return {
    projectId: requireId("prj", "projectId", request.projectId),
    jobId: requireId("job", "jobId", request.jobId),
  };
}

function assertDone(id: Id<"job">, forced: Forced, refusal: (id: string, standing: string) => Fault): void {
  switch (forced.outcome) {
    case "done":
      return;
    case "missing":
      throw askFaults.JOB_NOT_FOUND("jobId", id);
    case "refused": {
      const { status, parkReason } = forced;
      if (isEnd(status)) throw jobFaults.JOB_FINISHED("jobId", id, status);
      throw refusal(id, parkReason === undefined ? status : `${status} (${parkReason})`);
    }
    default:
      assertExhaustive(forced);
  }
}
