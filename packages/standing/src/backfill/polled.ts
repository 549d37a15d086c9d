import type { Executor } from "@svc/db/connect";
import { readStandingPolls, writeStandingPoll } from "@svc/db/standing/polls";
import { clearDueTasks, type StandingProgramRecord } from "@svc/db/standing/programs";
import { putDueTasks } from "@svc/db/standing/task";
import type { StandingContext } from "../engine/context.ts";
import { standingFaults } from "../errors.ts";
import { newPollState } from "../poll/state.ts";
import { sealPollState } from "../poll/store.ts";

/** Forgets what is known of a polled list: the next poll, at once, finds all of it. A poll that is under way counts for nothing. */
export async function forgetPolled(
  { clock, sealer }: StandingContext,
  tx: Executor,
  { id: programId, projectId }: StandingProgramRecord,
): Promise<void> {
  const poll = (await readStandingPolls(tx, [programId])).get(programId);
  if (poll === undefined) {
    const why = "the program was not polled yet: there is nothing to forget";
    throw standingFaults.BACKFILL_NOT_POSSIBLE(
      "id",
      why,
      "Wait for its first poll, or let `first` of its definition be all.",
    );
  }
  await writeStandingPoll(tx, {
    ...poll,
    generation: poll.generation + 1,
    state: sealPollState(sealer, { programId, projectId }, newPollState("all")),
    ...{ isPrimed: false, seen: 0, hasStale: true },
  });
  await clearDueTasks(tx, programId, ["poll"]);
  await putDueTasks(tx, [{ ownerId: programId, kind: "poll", subject: "", projectId, dueAt: clock.now() }]);
}
