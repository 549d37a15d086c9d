import type { ServiceImpl } from "@connectrpc/connect";
import { askFaults } from "@svc/asks";
import { assertExhaustive, type Id, requireId, requireProject } from "@svc/core";
import type { JobsService } from "@svc/gen/jobs";
import type { Paused } from "../drive/pause-job.ts";
import { jobFaults } from "../errors.ts";
import type { JobsContext } from "./context.ts";
import { readJob } from "./read.ts";

type Methods = Pick<ServiceImpl<typeof JobsService>, "pauseJob" | "resumeJob">;

/** PauseJob and ResumeJob. */
export function pauseMethods(context: JobsContext): Methods {
  const { engine, hints } = context;
  return {
    async pauseJob(request, ctx) {
      const { projectId, keyId } = requireProject(ctx);
      const jobId = requireId("job", "id", request.id);
      assertDone(jobId, await engine.pause({ jobId, projectId }, [`key:${keyId}`]));
      hints.notify(jobId);
      return { job: await readJob(context, projectId, "id", jobId) };
    },
    async resumeJob(request, ctx) {
      const { projectId, keyId } = requireProject(ctx);
      const jobId = requireId("job", "id", request.id);
      assertDone(jobId, await engine.resume({ jobId, projectId }, [`key:${keyId}`]));
      hints.notify(jobId);
      return { job: await readJob(context, projectId, "id", jobId) };
    },
  };
}

function assertDone(id: Id<"job">, paused: Paused): void {
  switch (paused.outcome) {
    case "done":
      return;
    case "missing":
      throw askFaults.JOB_NOT_FOUND("id", id);
    case "ended":
      throw jobFaults.JOB_FINISHED("id", id, paused.status);
    case "not_paused":
      throw jobFaults.JOB_NOT_PAUSED(id, paused.status);
    default:
      assertExhaustive(paused);
  }
}
