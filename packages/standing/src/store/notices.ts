import { createId, isoTime } from "@svc/core";
import type { Executor } from "@svc/db/connect";
import { type NewEvent, recordEvents } from "@svc/db/events/record";
import type { StandingNoticeKind } from "@svc/db/schema/words";
import { noteStandingNotices } from "@svc/db/standing/notices";
import { findNoticeEndpoints } from "@svc/db/subscriptions/health";
import type { Decided } from "../decide/decide-batch.ts";
import type { StandingContext } from "../context.ts";

/** Something that people are told of. */
type Notice = {
  readonly of: Decided;
  readonly kind: StandingNoticeKind;
  /** In the words of the program's pauseReason; else empty. */
  readonly reason: string;
  /** For people. */
  readonly detail: string;
  /** Runs, or times, that it is about. */
  readonly count: number;
};

/**
 * Posts to the ask endpoints that ask for it what programs of a batch tell: event and deliveries are part of the transaction, and the
 * delivery engine does the rest. Answers whether there is something to deliver.
 */
export async function storeNotices(
  context: Pick<StandingContext, "clock" | "nodeId">,
  tx: Executor,
  decided: readonly Decided[],
): Promise<boolean> {
  const notices = decided.flatMap(noticesOf);
  if (notices.length === 0) return false;
  const nowMs = context.clock.now();
  const events = await eventsOf(tx, notices, nowMs);
  if (events.length === 0) return false;
  await recordEvents(tx, events, undefined, { owner: context.nodeId, untilMs: nowMs });
  return true;
}

/** In two statements, however many projects a herd is of. */
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
  const told = new Set(noted.map(({ programId, kind }) => `${programId} ${kind}`));
  const due = wanted.filter(({ notice: { of, kind } }) => told.has(`${of.program.id} ${kind}`));
  return due.map(({ notice, wanting }) => ({
    ...{ id: createId("evt", nowMs), projectId: notice.of.program.projectId, kind: "notice" },
    ...{ toolkitSlug: "", triggerSlug: "", entityId: "", dedupeKey: "" },
    ...{ payload: payloadOf(notice, nowMs), occurredAtMs: nowMs, receivedAtMs: nowMs },
    deliveries: wanting.map(({ id }) => ({ id: createId("dlv", nowMs), subscriptionId: id, leased: false })),
  }));
}

/** What is posted, behind the event's id. */
function payloadOf({ of, kind, reason, detail, count }: Notice, nowMs: number): string {
  const { id: standingProgramId, slug, title, version } = of.program;
  const at = isoTime(nowMs);
  return JSON.stringify({ type: kind, standingProgramId, slug, title, version, at, reason, detail, count });
}

function noticesOf(of: Decided): Notice[] {
  const { program, version, book } = of;
  const notices: Notice[] = [];
  if (book.state === "paused" && program.state !== "paused") {
    const count = book.pauseReason === "failures" ? book.failuresInRow : 0;
    notices.push({ of, kind: "standing_paused", reason: book.pauseReason, detail: book.pauseDetail, count });
  }
  if (book.missed > 0) {
    const detail = `${book.missed} times of its schedule passed while nothing was started`;
    notices.push({ of, kind: "standing_missed", reason: "", detail, count: book.missed });
  }
  if (book.failedStarts.length > 0) {
    const [detail = ""] = book.failedStarts;
    notices.push({
      of,
      kind: "standing_start_failed",
      reason: "start_failed",
      detail,
      count: book.failedStarts.length,
    });
  }
  const heldBack = book.runs.decided.filter(({ reason }) => reason === "budget");
  if (heldBack.length > 0) {
    const isLeftOut = version.definition.budget?.whenOver === "skip";
    const detail = `the day's budget is used up: runs ${isLeftOut ? "are left out" : "wait for the next day"}`;
    const count = heldBack.reduce((sum, run) => sum + run.count, 0);
    notices.push({ of, kind: "standing_budget", reason: "", detail, count });
  }
  return notices;
}
