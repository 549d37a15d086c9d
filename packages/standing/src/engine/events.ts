import type { StandingProgramId } from "@svc/core";
import type { Executor } from "@svc/db/connect";
import type { StandingRunReason } from "@svc/db/schema/words";
import { type ArrivalLease, holdStandingArrivals } from "@svc/db/standing/arrivals";
import { findStandingListeners, type StandingListener } from "@svc/db/standing/listeners";
import type { StandingProgramRecord } from "@svc/db/standing/programs";
import type { HeardEvent, Prepared } from "./due.ts";

/** The events of a batch that are still this node's, by the programs that listened to them. These are locked by now. */
export async function hearEvents(
  tx: Executor,
  { events }: Prepared,
  programs: readonly StandingProgramRecord[],
): Promise<{ readonly heard: readonly ArrivalLease[]; eventsOf(id: StandingProgramId): readonly HeardEvent[] }> {
  const heard = await holdStandingArrivals(
    tx,
    events.map(({ arrival }) => arrival),
  );
  const isHeld = new Set(heard.map(({ eventId, projectId }) => `${projectId} ${eventId}`));
  const own = events.filter(({ arrival }) => isHeld.has(`${arrival.projectId} ${arrival.eventId}`));
  // Who was paused or deleted while it was looked at says so now.
  const listeners = new Map(
    (
      await findStandingListeners(
        tx,
        own.flatMap(({ arrival, candidates }) => (candidates.length === 0 ? [] : [arrival])),
      )
    ).map((listener) => [keyOf(listener), listener]),
  );
  const byId = new Map(programs.map((program) => [program.id, program]));
  const all = new Map<StandingProgramId, HeardEvent[]>();
  for (const { listener, candidate } of own.flatMap(({ candidates }) => candidates)) {
    const program = byId.get(listener.programId);
    if (program === undefined) continue;
    const skipped = whySkipped(program, listeners.get(keyOf(listener)) ?? listener);
    const own = all.get(program.id);
    if (own === undefined) all.set(program.id, [{ candidate, skipped }]);
    else own.push({ candidate, skipped });
  }
  return { heard, eventsOf: (id) => all.get(id) ?? [] };
}

function keyOf({ programId, fromVersion }: Pick<StandingListener, "programId" | "fromVersion">): string {
  return `${programId} ${fromVersion}`;
}

function whySkipped(
  { state, deletedAt }: StandingProgramRecord,
  { endReason }: StandingListener,
): StandingRunReason | undefined {
  if (deletedAt !== null) return "deleted";
  return endReason === "paused" || state === "paused" ? "paused" : undefined;
}
