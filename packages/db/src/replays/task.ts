import { idOfUuid, type ProjectId, type ReplayId, uuidOfId } from "@svc/core";
import type { DueTaskLease, NewDueTask } from "../standing/task.ts";

/** The task of a replay that this node now holds. `attempt`: claims since it last went well, this one included. */
export type ClaimedReplay = {
  readonly id: ReplayId;
  readonly projectId: ProjectId;
  readonly dueAt: number;
  readonly leaseToken: number;
  readonly attempt: number;
};

/** The lease of a replay's task: the replay owns it, under its UUID. */
export function replayLease({ id, leaseToken }: Pick<ClaimedReplay, "id" | "leaseToken">): DueTaskLease {
  return { ...taskOf(id), leaseToken };
}

/** The task that moves a replay on. */
export function newReplayTask(id: ReplayId, projectId: ProjectId, dueAt: number): NewDueTask {
  return { ...taskOf(id), projectId, dueAt };
}

function taskOf(id: ReplayId) {
  return { ownerId: idOfUuid("stp", uuidOfId(id)), kind: "replay", subject: "" } as const;
}
