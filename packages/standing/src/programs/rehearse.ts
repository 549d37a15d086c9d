import type { Executor } from "@svc/db/connect";
import { decideStandingVersion, loadStandingVersions, type StandingProgramRecord } from "@svc/db/standing/programs";
import { putDueTasks } from "@svc/db/standing/task";

/** Ends what waits for approval of a locked program, since another version takes its place, or none does. */
export async function supersede(
  tx: Executor,
  { id: programId, projectId, pendingVersion: version }: StandingProgramRecord,
  nowMs: number,
): Promise<void> {
  if (version === 0) return;
  const [pending] = await loadStandingVersions(tx, [{ programId, version }]);
  await decideStandingVersion(tx, { programId, version }, { approval: "superseded" });
  // Its row is not to be locked behind the program's: who answers holds it, and waits for that.
  if (pending?.rehearsalJobId === null || pending === undefined) return;
  const subject = pending.rehearsalJobId;
  await putDueTasks(tx, [{ ownerId: programId, kind: "cancel", subject, projectId, dueAt: nowMs }]);
}
