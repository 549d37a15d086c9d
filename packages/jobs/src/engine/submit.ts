import { createHash } from "node:crypto";
import { type Clock, createId, type Id, type KeyId, type ProjectId, type Sealer } from "@svc/core";
import { type Executor, insertJobs, type KeyedJob, type NewJob } from "@svc/db";
import type { AskPort, PreparedAsk } from "../asks/types.ts";
import type { JsonObject, Program } from "../program/program.ts";
import { planPark, planQuestion } from "./plan-approval.ts";
import { jobSeals } from "./seals.ts";
import type { JobStatus } from "./states.ts";

/** A checked program that is to become a job. */
export type JobSubmission = {
  readonly projectId: ProjectId;
  readonly keyId: KeyId;
  readonly principalChain: readonly string[];
  /** As it was submitted. */
  readonly programJson: string;
  readonly programHash: string;
  readonly program: Program;
  /** The pinned definitions as JSON text. */
  readonly pins: string;
  readonly mode: "live" | "simulate";
  readonly simulateFirst: boolean;
  readonly needsApproval: boolean;
  readonly estimate: Readonly<Record<string, unknown>>;
  /** What a skill's caller gave; undefined for the program's own. */
  readonly input: JsonObject | undefined;
  readonly skillSlug: string;
  readonly idempotencyKey: string | undefined;
  /** SHA-256 of what the idempotency key is bound to. */
  readonly contentDigest: Buffer;
};

/** What submitting works with. */
export type SubmitContext = {
  readonly db: Executor;
  readonly clock: Clock;
  readonly sealer: Sealer;
  readonly asks: AskPort;
};

/**
 * Stores a job, its program, the beginning of its log and its first work in one transaction: with simulateFirst also its twin, and
 * for a plan that needs approval the ask. Answers the job's id, or the job that holds the idempotency key. Wake the engine after.
 */
export async function submitJob(
  context: SubmitContext,
  submission: JobSubmission,
): Promise<{ readonly id: Id<"job"> } | { readonly earlier: KeyedJob }> {
  const nowMs = context.clock.now();
  const { projectId, programJson: program, programHash, pins, simulateFirst } = submission;
  const digest = createHash("sha256")
    .update(JSON.stringify([program, pins]))
    .digest();
  const id = createId("job", nowMs);
  const main = await newJob(context, { ...submission, id, digest, nowMs });
  const twin = simulateFirst ? [newTwin(context, submission, { id, digest, nowMs })] : [];
  const earlier = await insertJobs(
    context.db,
    { projectId, digest, program, programHash, pins },
    [main, ...twin],
    nowMs,
  );
  return earlier === undefined ? { id } : { earlier };
}

type Identified = { readonly id: Id<"job">; readonly digest: Buffer; readonly nowMs: number };

async function newJob(context: SubmitContext, submission: JobSubmission & Identified): Promise<NewJob> {
  const { id, nowMs, program, simulateFirst, needsApproval, mode } = submission;
  const asksNow = needsApproval && !simulateFirst && mode === "live";
  const status: JobStatus = simulateFirst ? "simulating" : asksNow ? "pending_plan_approval" : "queued";
  const question = planQuestion(program.title);
  const prepared = asksNow ? await preparePlanAsk(context, submission, question) : undefined;
  const { deadlineMs } = program.limits;
  const seals = jobSeals(context.sealer, submission.projectId, id);
  const progress = prepared
    ? { stepId: "", askId: prepared.id }
    : simulateFirst
      ? { stepId: "", needsApproval }
      : undefined;
  const base = baseRow(submission, submission);
  return {
    job: {
      ...base,
      input: submission.input === undefined ? null : seals.seal("input", submission.input),
      status,
      planApprovalId: prepared?.approvalId ?? "",
      park: prepared ? planPark(question, prepared.id, nowMs) : null,
      progress: progress === undefined ? null : seals.seal("progress", progress),
      idempotencyKey: submission.idempotencyKey ?? null,
      deadlineAt: status === "queued" ? nowMs + deadlineMs : null,
      deadlineLeftMs: status === "queued" ? null : deadlineMs,
    },
    events: [submitted(submission, status), ...(prepared?.events ?? [])],
    tasks: status === "queued" ? [runTask(submission, id, nowMs)] : (prepared?.tasks ?? []),
    also: prepared && ((tx) => prepared.write(tx)),
  };
}

function newTwin(context: SubmitContext, submission: JobSubmission, { id, digest, nowMs }: Identified): NewJob {
  const twinId = createId("job", nowMs);
  const seals = jobSeals(context.sealer, submission.projectId, twinId);
  return {
    job: {
      ...baseRow({ ...submission, mode: "simulate" }, { id: twinId, digest, nowMs }),
      simulatedFrom: id,
      input: submission.input === undefined ? null : seals.seal("input", submission.input),
      status: "queued",
      deadlineAt: nowMs + submission.program.limits.deadlineMs,
    },
    events: [submitted({ ...submission, mode: "simulate" }, "queued")],
    tasks: [runTask(submission, twinId, nowMs)],
  };
}

function baseRow(submission: JobSubmission, { id, digest, nowMs }: Identified) {
  return {
    id,
    projectId: submission.projectId,
    mode: submission.mode,
    skillSlug: submission.skillSlug,
    programDigest: digest,
    params: submission.program.params,
    stepArgs: {},
    keyId: submission.keyId,
    principalChain: [...submission.principalChain],
    contentDigest: submission.contentDigest,
    estimate: submission.estimate,
    used: { toolCalls: 0, writes: 0, rows: 0, asks: 0 },
    saga: { state: submission.program.sagaOn.length > 0 ? "armed" : "none", entries: 0, done: 0, failed: 0 },
    createdAt: nowMs,
    updatedAt: nowMs,
  };
}

function preparePlanAsk(
  { db, asks }: SubmitContext,
  { id, nowMs, projectId, keyId, principalChain, program }: JobSubmission & Identified,
  question: ReturnType<typeof planQuestion>,
): Promise<PreparedAsk> {
  return asks.prepare(db, {
    ...question,
    jobId: id,
    projectId,
    keyId,
    approvers: program.approval.escalation,
    standingProgramId: "",
    principalChain,
    nowMs,
  });
}

function submitted({ mode, programHash, skillSlug, principalChain }: JobSubmission, status: JobStatus) {
  const payload = { mode, status, programHash, ...(skillSlug !== "" && { skillSlug }) };
  return { type: "job-submitted", stepId: "", payload: JSON.stringify(payload), principalChain: [...principalChain] };
}

function runTask({ projectId }: JobSubmission, jobId: Id<"job">, dueAt: number) {
  return { jobId, kind: "run" as const, subject: "", projectId, dueAt };
}
