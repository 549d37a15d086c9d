import { createHash } from "node:crypto";
import { type Clock, currentTrace, type Sealer } from "@svc/core";
import type { NewJob } from "@svc/db/jobs/new-job";
import { skillToolSlug } from "../../skills/toolkit.ts";
import type { NewChild } from "../../state/change.ts";
import { isConfirmed, unchangedConfirmation } from "../../state/confirmed.ts";
import { noUse } from "../../state/counts.ts";
import type { JobState } from "../../state/job.ts";
import { noProgress } from "../../state/progress.ts";
import { sealProgress } from "../../state/stored-progress.ts";
import { type JobSeals, jobSeals } from "../store/seals.ts";

/** Returns the row, log entry and task of a child job that runs a skill. They are stored in a commit of the parent job. */
export function childJob(
  parent: JobState,
  child: NewChild,
  context: { readonly clock: Clock; readonly sealer: Sealer },
): NewJob {
  const { id, name, skill, program, input, place, generation, limits } = child;
  const { projectId, keyId, binding, isSimulated, plan } = parent;
  const nowMs = context.clock.now();
  const mode = isSimulated ? "simulate" : "live";
  const skillSlug = skillToolSlug(skill.slug);
  const childKey = [place.stepId, place.ordinal, place.callId, generation].join("/");
  const seals = jobSeals(context.sealer, projectId, id);
  // A person's answer can change the values of the parent job, and so the input of the child job. So the keys with which people gave such
  // answers are also recorded as causes of the child job.
  const changedBy = (plan?.changedBy ?? []).map((key) => `key:${key}`);
  const payload = JSON.stringify({ mode, status: "queued", skillSlug, parentJobId: parent.id });
  return {
    job: {
      id,
      projectId,
      status: "queued",
      mode,
      skillSlug,
      parentJobId: parent.id,
      childKey,
      callSeed: callSeedOf(parent, childKey),
      restoredFrom: parent.restoredFrom,
      traceparent: currentTrace() ?? null,
      child: { stepId: place.stepId, ordinal: place.ordinal, limits },
      programDigest: Buffer.from(skill.digest, "hex"),
      input: seals.seal("input", input),
      progress: confirmedWith(parent, seals),
      params: {},
      stepArgs: {},
      keyId,
      binding,
      principalChain: [...parent.principalChain, ...changedBy, `skill:${name}`],
      contentDigest: Buffer.from(skill.digest, "hex"),
      estimate: skill.estimate,
      used: noUse,
      saga: { state: program.sagaOn.length > 0 ? "armed" : "none", entries: 0, done: 0, failed: 0 },
      deadlineAt: nowMs + program.limits.deadlineMs,
      createdAt: nowMs,
      updatedAt: nowMs,
    },
    events: [{ type: "job-submitted", stepId: "", payload, principalChain: null }],
    tasks: [{ jobId: id, kind: "run", subject: "", projectId, dueAt: nowMs }],
  };
}

/**
 * Returns the encrypted record that a person has confirmed the job, for a child job that runs a skill. A confirmation of the parent covers
 * its child jobs. Returns null if the parent is not confirmed.
 */
function confirmedWith(parent: JobState, { seal }: JobSeals): Buffer | null {
  if (!isConfirmed(parent)) return null;
  const plan = { confirmed: unchangedConfirmation };
  return sealProgress({ ...noProgress, positions: [], plan }, seal);
}

/** Returns the value from which the child job's idempotency keys for apps are made. Null stands for the child's own id. */
function callSeedOf({ id, callSeed }: Pick<JobState, "id" | "callSeed">, childKey: string): Buffer | null {
  // A schedule's run has another seed than its id. Its child jobs then send the same keys again after a backup is restored.
  if (callSeed === id) return null;
  return createHash("sha256")
    .update(JSON.stringify([callSeed, childKey]))
    .digest();
}
