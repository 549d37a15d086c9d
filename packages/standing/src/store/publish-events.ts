import { isoTime, type OperationalEventPayload } from "@svc/core";
import type { Executor } from "@svc/db/connect";
import { type OperationalEvent, occurrenceOf, publishOperationalEvents } from "@svc/db/events/operational";
import type { StandingContext } from "../context.ts";
import type { DecidedProgram } from "../decide/decide.ts";

type ScheduleEventName = "schedule_paused" | "schedule_missed" | "schedule_start_failed" | "schedule_budget";

/** A report for people about a program, from which an operational event is made. */
type ScheduleReport = {
  readonly name: ScheduleEventName;
  /**
   * Reason for the event. For a paused schedule, this is its `pauseReason`. For failed starts, it is `start_failed`; for other events, it
   * is empty.
   */
  readonly reason: string;
  /** Details of `reason`, as text for people. */
  readonly detail: string;
  /** Number of runs or missed times that the operational event (an event that svc makes about a project) reports. */
  readonly count: number;
};

const hourMs = 3_600_000;

/**
 * Stores the operational events about a batch of schedule decisions, with their deliveries, in the batch's transaction. The delivery engine
 * sends them. Returns true if there is a delivery to send, false if not.
 */
export function publishScheduleEvents(
  { clock, filters }: Pick<StandingContext, "clock" | "filters">,
  tx: Executor,
  decided: readonly DecidedProgram[],
): Promise<boolean> {
  const nowMs = clock.now();
  const facts = decided.flatMap((of) => {
    const reports = reportsOf(of);
    return reports.length === 0 ? [] : [{ projectId: of.program.projectId, of, reports }];
  });
  const eventsOf = (received: readonly (typeof facts)[number][]) =>
    received.flatMap(({ of, reports }) => reports.map((report) => eventOf(of, report, nowMs)));
  return publishOperationalEvents(tx, facts, eventsOf, { filters, nowMs });
}

function eventOf(
  { program }: DecidedProgram,
  { name, reason, detail, count }: ScheduleReport,
  nowMs: number,
): OperationalEvent {
  const { id: standingProgramId, projectId, slug, title, version, binding } = program;
  // Ask endpoints get these fields in this order.
  const payload: OperationalEventPayload<ScheduleEventName> = {
    ...{ standingProgramId, slug, title, version, at: isoTime(nowMs) },
    ...{ reason, detail, count },
  };
  const occurrence = occurrenceOf(standingProgramId, Math.floor(nowMs / hourMs));
  return { name, projectId, entityId: binding?.entityId ?? "", occurrence, payload };
}

function reportsOf({ program, version, decisions }: DecidedProgram): ScheduleReport[] {
  const reports: ScheduleReport[] = [];
  if (decisions.state === "paused" && program.state !== "paused") {
    const count = decisions.pauseReason === "failures" ? decisions.failuresInRow : 0;
    reports.push({ name: "schedule_paused", reason: decisions.pauseReason, detail: decisions.pauseDetail, count });
  }
  if (decisions.missed > 0) {
    const detail = `${decisions.missed} times of its schedule passed without a start`;
    reports.push({ name: "schedule_missed", reason: "", detail, count: decisions.missed });
  }
  if (decisions.failedStarts.length > 0) {
    const [detail = ""] = decisions.failedStarts;
    const count = decisions.failedStarts.length;
    reports.push({ name: "schedule_start_failed", reason: "start_failed", detail, count });
  }
  const heldBack = decisions.runs.decided.filter(({ reason }) => reason === "budget");
  if (heldBack.length > 0) {
    const isLeftOut = version.definition.budget?.whenOver === "skip";
    const detail = `the day's budget is used up: runs ${isLeftOut ? "are left out" : "wait for the next day"}`;
    const count = heldBack.reduce((sum, run) => sum + run.count, 0);
    reports.push({ name: "schedule_budget", reason: "", detail, count });
  }
  return reports;
}
