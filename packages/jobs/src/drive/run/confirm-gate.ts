import type { KeyId, ProjectId } from "@svc/core";
import type { StoredAccessClass } from "@svc/db/schema/words";
import type { JobState } from "../../state/job.ts";

/** Decides for jobs at work whether a person is to confirm them before they call. */
export type ConfirmGate = {
  /**
   * Returns the contact who is to confirm a job before it calls a tool of a class, by the rules of its project and of the keys that had a
   * hand in it; undefined if no rule covers the class, or if a person confirmed the job as it is now. Without a class: the highest one
   * of all that its program calls.
   */
  confirmerOf(state: JobState, accessClass?: StoredAccessClass): Promise<string | undefined>;
  /** Forgets the rules of a project or a key, so that a change holds at once; other nodes see it within a second. */
  forget(id: ProjectId | KeyId): void;
};
