import { toJson } from "@bufbuild/protobuf";
import type { Client } from "@connectrpc/connect";
import { type Job, type JobEvent, JobSchema, type JobsService } from "@svc/gen/jobs";
import { identityOf } from "./app-request.ts";
import { wasNotDone } from "./app-script.ts";
import type { JobEnding, RecordedRequest } from "./history.ts";
import { withoutIds } from "./ids.ts";

/** What a run came to, as far as any two runs of it must agree. */
export type Outcome = { readonly jobs: readonly JobEnding[] };

/** Reads what a job, and its simulation if there is one, came to. Throws when the log and the receipt do not belong together. */
export async function readOutcome(jobs: Client<typeof JobsService>, jobId: string): Promise<Outcome> {
  const { job, simulation } = await jobs.getJob({ id: jobId });
  const found = [job, simulation].filter((one) => one !== undefined);
  return { jobs: await Promise.all(found.map(async (one) => endingOf(one, await readLog(jobs, one.id)))) };
}

async function readLog(jobs: Client<typeof JobsService>, jobId: string): Promise<JobEvent[]> {
  const events: JobEvent[] = [];
  for (let pageToken = ""; ; ) {
    const page = await jobs.listJobEvents({ jobId, pageToken, pageSize: 100 });
    events.push(...page.events);
    pageToken = page.nextPageToken;
    if (pageToken === "") return events;
  }
}

function endingOf(job: Job, events: readonly JobEvent[]): JobEnding {
  if (events.some(({ seq }, index) => seq !== index + 1)) throw new Error(`the log of ${job.id} has gaps`);
  const last = job.receipt && events[job.receipt.lastSeq - 1];
  if (last?.type !== "job-status-changed") throw new Error(`the receipt of ${job.id} names another entry as its last`);
  return { job: factsOf(job), log: mergedRetries(events).flatMap((event) => logLine(event, job)) };
}

/**
 * The log with what follows each other of a call's repetitions as one entry: how many of them are made at one stretch, and logged
 * together, is for the driver to decide.
 */
function mergedRetries(events: readonly JobEvent[]): JobEvent[] {
  const merged: JobEvent[] = [];
  for (const event of events) {
    const last = merged.at(-1);
    if (event.type !== "call-retried" || last?.type !== event.type || last.stepId !== event.stepId) merged.push(event);
    else {
      const times = timesOf(last) + timesOf(event);
      merged[merged.length - 1] = { ...event, payloadJson: JSON.stringify({ times }) };
    }
  }
  return merged;
}

function timesOf({ payloadJson }: JobEvent): number {
  return (JSON.parse(payloadJson) as { times?: number }).times ?? 0;
}

/** What no two runs share, or what another says: the program's text is told by its hash. */
const leftOut = new Set([
  ...["createdAt", "updatedAt", "finishedAt", "startedAt", "at", "since", "raisedAt", "wakeAt"],
  // They count the entries of the log and the seconds of the clock, of which a run that was taken over has more.
  ...["lastSeq", "deadlineSeconds", "receiptHash"],
  "programJson",
]);

function factsOf(job: Job): Readonly<Record<string, unknown>> {
  const json = toJson(JobSchema, job, { alwaysEmitImplicit: true }) as Record<string, unknown>;
  const steps = json["stepReceipts"] as object[];
  // What is absent says something, too.
  const stepReceipts = steps.map((step) => ({ rows: null, calls: null, decision: null, undo: null, ...step }));
  const whole = { park: null, pendingAsk: null, receipt: null, saga: null, ...json, stepReceipts };
  return JSON.parse(withoutIds(JSON.stringify(whole)), (name, value: unknown) => {
    return leftOut.has(name) ? undefined : value;
  }) as Readonly<Record<string, unknown>>;
}

/** What entries of some types say that every run of the same program says. */
const told: Readonly<Record<string, readonly string[]>> = {
  "job-status-changed": ["from", "to", "reason"],
  "simulation-finished": ["status", "outcome"],
  "step-finished": ["state"],
  "call-retried": ["times", "code"],
  "compensation-step": ["state"],
  "ask-raised": ["pointId", "kind", "principalId"],
  "ask-escalated": ["to"],
  "ask-settled": ["continuation", "by", "surface"],
  "answer-refused": ["reason"],
  "limit-reached": ["limit"],
  "overrides-applied": ["target"],
};

/**
 * An entry of the log as one line; none for those that are logged by the clock of each driver, at most once in five seconds and at
 * its first chance: how far a step is, and rows that were undone.
 */
function logLine({ type, stepId, payloadJson, principalChain }: JobEvent, { stepReceipts }: Job): string[] {
  const payload = JSON.parse(payloadJson) as Record<string, unknown>;
  const isOfMap = stepReceipts.some((step) => step.stepId === stepId && step.kind === "map");
  if (type === "step-progress") return [];
  if (type === "compensation-step" && isOfMap && payload["state"] === "done") return [];
  const facts = (told[type] ?? []).map((name) => String(payload[name] ?? ""));
  const chain = principalChain.map((principal) => (principal.startsWith("key:") ? "key" : principal));
  return [withoutIds([type, stepId, ...facts, "by", ...chain].filter((part) => part !== "").join(" "))];
}

/** The writes that apps did or may have done, by identity; those of one key of the app are one. */
export function writesOf(seen: readonly RecordedRequest[]): Map<string, number> {
  const writes = new Map<string, number>();
  for (const request of seen) {
    if (request.class === "read" || wasNotDone(request)) continue;
    const identity = identityOf(request);
    writes.set(identity, request.key === "" ? (writes.get(identity) ?? 0) + 1 : 1);
  }
  return writes;
}

/** Entries of one multiset that another lacks, one for each occurrence. */
export function lacking(from: ReadonlyMap<string, number>, other: ReadonlyMap<string, number>): string[] {
  return [...from].flatMap(([identity, count]) => {
    return Array.from({ length: Math.max(0, count - (other.get(identity) ?? 0)) }, () => identity);
  });
}
