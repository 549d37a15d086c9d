import type { KeyId, ProjectId } from "@svc/core";
import type { StoredAccessClass } from "@svc/db/schema/words";
import type { JobState } from "../../state/job.ts";

/** Decides for running jobs if a person must confirm them before they call. */
export type ConfirmGate = {
  /**
   * Returns the contact who must confirm a job before it calls a tool of a class, by the rules of its project and of the keys involved.
   * Undefined if no rule covers the class, or if a person has confirmed the job as it is now. Without a class it uses the highest class of
   * all its calls.
   */
  confirmerOf(state: JobState, accessClass?: StoredAccessClass): Promise<string | undefined>;
  /** Drops the cached rules of a project or a key, so that a change takes effect at once. Other nodes see it within a second. */
  forget(id: ProjectId | KeyId): void;
};
