import type { jobEvents, jobSteps, jobs, jobTasks } from "../schema/jobs.ts";

/** A job as its row holds it, without what only submitting needs. The forms of its documents stand in packages/jobs. */
export type JobRecord = Omit<typeof jobs.$inferSelect, "idempotencyKey" | "contentDigest">;

/** What a step did and made; `output` is sealed. */
export type JobStepRecord = Omit<typeof jobSteps.$inferSelect, "jobId">;

/** An entry of a job's log. */
export type JobEventRecord = typeof jobEvents.$inferSelect;

/** An entry of a job's log before it has its place there. */
export type NewJobEvent = Pick<JobEventRecord, "type" | "stepId" | "payload" | "principalChain">;

/** What kind of work a task is. */
export type JobTaskKind = (typeof jobTasks.$inferSelect)["kind"];

/** Work that is to become due. */
export type NewJobTask = Pick<typeof jobTasks.$inferSelect, "jobId" | "kind" | "subject" | "projectId" | "dueAt">;
