import { createId, isoTime } from "@svc/core";
import type { Executor } from "@svc/db/connect";
import { type NewEvent, recordEvents } from "@svc/db/events/record";
import type { StandingNoticeKind } from "@svc/db/schema/words";
import { noteStandingNotices } from "@svc/db/standing/notices";
import { findNoticeEndpoints } from "@svc/db/subscriptions/health";
import type { StandingContext } from "../context.ts";
import type { DecidedProgram } from "../decide/decide.ts";

/** A notice for people about a program. */
type Notice = {
  readonly of: DecidedProgram;
  readonly kind: StandingNoticeKind;
  /** The reason of the program's pause, or `start_failed`; empty if the notice has no reason. */
  readonly reason: string;
  /** Details of the notice, as text for people. */
  readonly detail: string;
  /** Number of runs or missed times that the notice reports. */
  readonly count: number;
};

/**
 * Stores the notices of a batch as events and deliveries, in the same transaction, for the endpoints of contacts that subscribe to notices.
 * The delivery engine sends them. Returns true if there is a delivery to send, false if not.
 */
export async function storeNotices(
  context: Pick<StandingContext, "clock" | "nodeId">,
  tx: Executor,
  decided: readonly DecidedProgram[],
): Promise<boolean> {
  const notices = decided.flatMap(noticesOf);
  if (notices.length === 0) return false;
  const nowMs = context.clock.now();
  const events = await eventsOf(tx, notices, nowMs);
  if (events.length === 0) return false;
  await recordEvents(tx, events, undefined, { owner: context.nodeId, untilMs: nowMs });
  return true;
}

/** Returns the events for notices. It needs two statements, however many projects the notices have. */
async function eventsOf(tx: Executor, notices: readonly Notice[], nowMs: number): Promise<NewEvent[]> {
  const endpoints = await findNoticeEndpoints(
    tx,
    notices.map(({ of }) => of.program.projectId),
  );
  const byProject = Map.groupBy(endpoints, ({ projectId }) => projectId);
  const wanted = notices.flatMap((notice) => {
    const own = byProject.get(notice.of.program.projectId) ?? [];
    const wanting = own.filter(({ eventTypes }) => eventTypes.includes(notice.kind));
    return wanting.length === 0 ? [] : [{ notice, wanting }];
  });
  const asked = wanted.map(({ notice: { of, kind } }) => ({ programId: of.program.id, kind }));
  const noted = await noteStandingNotices(tx, asked, nowMs);
  const isNoted = new Set(noted.map(({ programId, kind }) => `${programId} ${kind}`));
  const due = wanted.filter(({ notice: { of, kind } }) => isNoted.has(`${of.program.id} ${kind}`));
  return due.map(({ notice, wanting }) => ({
    ...{ id: createId("evt", nowMs), projectId: notice.of.program.projectId, kind: "notice" },
    ...{ toolkitSlug: "", triggerSlug: "", entityId: "", dedupeKey: "" },
    ...{ payload: payloadOf(notice, nowMs), occurredAtMs: nowMs, receivedAtMs: nowMs },
    deliveries: wanting.map(({ id }) => ({ id: createId("dlv", nowMs), subscriptionId: id, leased: false })),
  }));
}

/** Returns the payload of a notice. The delivery posts it together with the id of its event. */
function payloadOf({ of, kind, reason, detail, count }: Notice, nowMs: number): string {
  const { id: standingProgramId, slug, title, version } = of.program;
  const at = isoTime(nowMs);
  return JSON.stringify({ type: kind, standingProgramId, slug, title, version, at, reason, detail, count });
}

function noticesOf(of: DecidedProgram): Notice[] {
  const { program, version, decisions } = of;
  const notices: Notice[] = [];
  if (decisions.state === "paused" && program.state !== "paused") {
    const count = decisions.pauseReason === "failures" ? decisions.failuresInRow : 0;
    notices.push({ of, kind: "standing_paused", reason: decisions.pauseReason, detail: decisions.pauseDetail, count });
  }
  if (decisions.missed > 0) {
    const detail = `${decisions.missed} times of its schedule passed without a start`;
    notices.push({ of, kind: "standing_missed", reason: "", detail, count: decisions.missed });
  }
  if (decisions.failedStarts.length > 0) {
    const [detail = ""] = decisions.failedStarts;
    notices.push({
      of,
      kind: "standing_start_failed",
      reason: "start_failed",
      detail,
      count: decisions.failedStarts.length,
    });
  }
  const heldBack = decisions.runs.decided.filter(({ reason }) => reason === "budget");
  if (heldBack.length > 0) {
    const isLeftOut = version.definition.budget?.whenOver === "skip";
    const detail = `the day's budget is used up: runs ${isLeftOut ? "are left out" : "wait for the next day"}`;
    const count = heldBack.reduce((sum, run) => sum + run.count, 0);
    notices.push({ of, kind: "standing_budget", reason: "", detail, count });
  }
  return notices;
}
