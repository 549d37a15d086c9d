import type { KeyId, ProjectId } from "@svc/core";
import type { StoredAccessClass } from "@svc/db/schema/words";
import type { JobState } from "../../state/job.ts";

/** Decides if a person must confirm a running job before the job makes a call. */
export type ConfirmGate = {
  /**
   * Returns the contact who must confirm a job before a call of an access class, by the rules of its project and its keys. Returns
   * undefined if no rule applies or the job is already confirmed in its present form. Without `accessClass`, the highest class of all the
   * job's calls decides.
   */
  confirmerOf(state: JobState, accessClass?: StoredAccessClass): Promise<string | undefined>;
  /**
   * Drops the cached rules of a project or a key (they say which calls a person must confirm). So a change of these rules takes effect at
   * once. Other nodes notice the change within a second.
   */
  forget(id: ProjectId | KeyId): void;
};
