import type { ProjectId, StandingProgramId } from "@svc/core";
import type { Executor } from "@svc/db/connect";
import type { ListenerEnd, StandingSourceKind } from "@svc/db/schema/words";
import { closeStandingListener, countStandingListeners, openStandingListener } from "@svc/db/standing/listeners";
import type { StandingProgramRecord } from "@svc/db/standing/programs";
import type { Source } from "../definition/definition.ts";
import { standingFaults } from "../errors.ts";

/** A program that may listen. */
export type Listening = { readonly id: StandingProgramId; readonly projectId: ProjectId };

/** Programs of a project that may listen to one trigger: each event is looked at for every one of them. */
const listenersMax = 200;

/** Lets an active program hear the events that a version of it is for; nothing for any other source. Throws STANDING_PROGRAMS_TOO_MANY. */
export async function listen(
  tx: Executor,
  { id: programId, projectId, version }: Listening & { readonly version: number },
  source: Source,
): Promise<void> {
  if (source.kind !== "trigger") return;
  const { slug: triggerSlug } = source;
  if ((await countStandingListeners(tx, projectId, triggerSlug)) >= listenersMax) {
    throw standingFaults.STANDING_PROGRAMS_TOO_MANY(listenersMax, triggerSlug);
  }
  await openStandingListener(tx, { programId, projectId, version, triggerSlug });
}

/** Lets a program hear nothing any more. What was received before, and not decided about, meets the reason. */
export async function stopListening(
  tx: Executor,
  { id: programId, projectId, sourceKind }: Listening & { readonly sourceKind: StandingSourceKind },
  { reason, nowMs }: { readonly reason: ListenerEnd; readonly nowMs: number },
): Promise<void> {
  if (sourceKind === "trigger") await closeStandingListener(tx, { programId, projectId, reason, nowMs });
}

/** Whether a program hears events: one that is paused, or that people are yet to approve, does not. */
export function isListening({ state }: Pick<StandingProgramRecord, "state">): boolean {
  return state !== "paused" && state !== "pending";
}
