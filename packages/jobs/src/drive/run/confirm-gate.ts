import type { KeyId, ProjectId } from "@svc/core";
import type { StoredAccessClass } from "@svc/db/schema/words";
import type { JobState } from "../../state/job.ts";

/** Decides if a person must confirm a running job before its next call, by the project's current rules. */
export type ConfirmGate = {
  /**
   * Returns the contact (a person of the project) who must confirm a job before it makes calls of an access class (read, write or
   * destructive). The rules of the job's project and keys decide this. Returns undefined if no rule applies, or if the job is already
   * confirmed and has not changed since. Without `accessClass`, the highest class of all the job's calls decides.
   */
  confirmerOf(state: JobState, accessClass?: StoredAccessClass): Promise<string | undefined>;
  /**
   * Drops the cached rules of a project or a key (they say which calls a person must confirm). So a change of these rules takes effect at
   * once. Other nodes notice the change within a second.
   */
  forget(id: ProjectId | KeyId): void;
};
