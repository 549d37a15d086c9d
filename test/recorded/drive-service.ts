import { setTimeout as wait } from "node:timers/promises";
import { createSvcClient } from "@svc/sdk";
import { pauseMs } from "@svc/testing/until";
import type { ServiceEnding, UnderWay } from "./database-recording.ts";
import { performAct, standingOf, standsSo } from "./drive.ts";
import type { Standing } from "./history.ts";
import { readOutcome } from "./outcome.ts";

type Jobs = ReturnType<typeof createSvcClient>["jobs"];

/** A job of a running service. */
export type ServiceJob = Pick<UnderWay, "id" | "acts"> & { readonly jobs: Jobs };

/** The jobs of a project, over HTTP. */
export function jobsOf(service: { readonly url: string }, apiKey: string): Jobs {
  return createSvcClient({ baseUrl: service.url, apiKey }).jobs;
}

/** How a job stands now. */
export async function readStanding({ jobs, id }: Pick<ServiceJob, "jobs" | "id">): Promise<Required<Standing>> {
  const { job } = await jobs.getJob({ id });
  if (job === undefined) throw new Error(`there is no job ${id}`);
  return standingOf(job);
}

/** Waits until a job has ended, doing what is to be done once it stands so, and answers how it ended. */
export async function endOnService({ jobs, id, acts }: ServiceJob, timeoutMs = 30_000): Promise<ServiceEnding> {
  const left = [...acts];
  for (const startedAt = performance.now(); ; await wait(pauseMs(startedAt))) {
    const { job } = await jobs.getJob({ id });
    if (job === undefined) throw new Error(`there is no job ${id}`);
    if (job.finishedAt !== undefined) return readEnding(jobs, id);
    const [act] = left;
    if (act !== undefined && standsSo(job, act.when)) {
      left.shift();
      await performAct(jobs, id, act.does);
    }
    if (performance.now() > startedAt + timeoutMs)
      throw new Error(`${id} stays as it is: ${JSON.stringify(standingOf(job))}`);
  }
}

async function readEnding(jobs: Jobs, id: string): Promise<ServiceEnding> {
  const [ending] = (await readOutcome(jobs, id)).jobs;
  if (ending === undefined) throw new Error(`there is no job ${id}`);
  const { status, stepReceipts, saga } = ending.job as {
    status: string;
    stepReceipts: { stepId: string; state: string }[];
    saga: { state: string };
  };
  const steps = Object.fromEntries(stepReceipts.map(({ stepId, state }) => [stepId, state]));
  // How a question was told of goes on beside the job, and may be known before its end or after it.
  const told = ending.log.filter((line) => !line.startsWith("ask-delivery-changed"));
  // A call that fails is tried again as often as there is time until the answer.
  const log = told.filter((line, index) => !(line.startsWith("call-retried") && line === told[index - 1]));
  return { status, steps, saga: saga.state, log };
}
