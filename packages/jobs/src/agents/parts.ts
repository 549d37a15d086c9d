import type { AskContext } from "@svc/asks";
import type { JobsContext } from "../api/context.ts";

/** What agents' tools about programs, and tasks, work with. */
export type AgentJobsContext = JobsContext &
  AskContext & {
    /** How long jobs that have ended are kept, milliseconds; undefined: for good. */
    readonly jobRetentionMs?: number | undefined;
  };
