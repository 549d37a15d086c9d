export type { JobHints } from "./api/hints.ts";
export { createJobs, type Jobs, type JobsOptions } from "./create-jobs.ts";
export type { EngineLimits } from "./drive/context.ts";
export type { JobEngine } from "./drive/engine.ts";
export type { FaultPoint, OnFaultPoint } from "./drive/fault-points.ts";
export type { EndedJob, EngineObserver, ParkedJob } from "./drive/observer.ts";
export { type JobRowSweepOptions, type JobSweepOptions, jobRowSweep, jobSweep } from "./drive/retention.ts";
export { readSkillToolkits } from "./skills/toolkit.ts";
