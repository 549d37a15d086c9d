import type { KeyId, ProjectId } from "@svc/core";
import type { StoredAccessClass } from "@svc/db/schema/words";
import type { JobState } from "../../state/job.ts";

/** Decides if a person must confirm a running job before the job makes a call. */
export type ConfirmGate = {
  /**
   * Returns the contact who must confirm a job before it calls a tool of an access class. The rules of the job's project and of the keys
   * involved decide. Returns undefined if no rule covers the class, or if a person has confirmed the job in its present form. Without
   * `accessClass`, the highest class of all calls of the job is used.
   */
  confirmerOf(state: JobState, accessClass?: StoredAccessClass): Promise<string | undefined>;
  /** Drops the cached rules of a project or a key, so that a change takes effect at once. Other nodes notice the change within a second. */
  forget(id: ProjectId | KeyId): void;
};
