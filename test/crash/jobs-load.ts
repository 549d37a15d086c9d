import type { ServerProcess } from "@svc/testing/server-process";
import { allowRequests, connectDesk, examine, type JobsBench, look, submit, untilEnded } from "./jobs-bench.ts";
import { kinds } from "./jobs-programs.ts";
import { promoteSkills } from "./jobs-skills.ts";

/** A load of jobs that several clients submit, each one job after another. */
export type JobsLoad = {
  /** Accepted jobs, by tag. */
  readonly submitted: Map<string, { readonly id: string; readonly kind: string }>;
  /** Returns how many of them have ended. */
  ended(): number;
  /** Stops submitting, and waits for submissions under way. */
  stop(): Promise<void>;
};

/** Every kind of work that needs only one attempt. */
const mix = Object.keys(kinds).filter((kind) => kinds[kind]?.first === undefined);
/** Time in milliseconds that a client waits for a job to end before it submits the next. */
const patienceMs = 4_000;
let tags = 0;

/** Creates the accounts, secrets and skills that the programs of a load need. */
export async function prepareLoad(server: ServerProcess, bench: JobsBench): Promise<void> {
  await connectDesk(server);
  await allowRequests(server, bench.provider.url);
  await promoteSkills(server, { bench, finish: (id) => untilEnded(server, id, 60_000) });
}

/** Starts `clients` clients. Each repeats a failed call; a repeated submission has the same idempotency key. */
export function startJobsLoad(
  serviceOf: () => { url: string },
  { provider: { url: appUrl } }: JobsBench,
  clients: number,
): JobsLoad {
  const submitted: JobsLoad["submitted"] = new Map();
  let ended = 0;
  let isStopped = false;
  const client = async (place: number) => {
    for (let turn = place; !isStopped; turn++) {
      const kind = mix[turn % mix.length] ?? "read";
      const tag = `l${++tags}`;
      const id = await insist(() => submit(serviceOf(), kind, tag, appUrl));
      submitted.set(tag, { id, kind });
      const until = Date.now() + patienceMs;
      let isEnded = false;
      while (!isEnded && !isStopped && Date.now() < until) {
        await pause(50);
        isEnded = (await look(serviceOf(), id).catch(() => undefined))?.isEnded === true;
      }
      if (isEnded) ended++;
    }
  };
  const running = Array.from({ length: clients }, (_, place) => client(place));
  return {
    submitted,
    ended: () => ended,
    async stop() {
      isStopped = true;
      await Promise.all(running);
    },
  };
}

/** Waits until every job has ended, and checks each job's receipt and log. Returns how many calls the jobs report as unknown. */
export async function examineLoad(
  server: { url: string },
  { load, bench, timeoutMs }: { load: JobsLoad; bench: JobsBench; timeoutMs: number },
): Promise<number> {
  const end = Date.now() + timeoutMs;
  let unknown = 0;
  for (const [tag, { id, kind }] of load.submitted) {
    const job = await untilEnded(server, id, Math.max(1_000, end - Date.now()));
    await examine(server, { job, kind, tag, provider: bench.provider });
    unknown += job.receipt?.calls?.unknown ?? 0;
  }
  return unknown;
}

async function insist<T>(act: () => Promise<T>): Promise<T> {
  const end = Date.now() + 120_000;
  for (;;) {
    try {
      return await act();
    } catch (error) {
      if (Date.now() > end) throw error;
      await pause(50);
    }
  }
}

/** Waits for `ms` milliseconds. */
export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
