import type { Job, JobStep } from "@svc/gen/jobs";
import { useMemo } from "react";
import { useNow } from "../../clock.ts";
import type { FlowSpan } from "../../ui/flow/fold.ts";
import { Timeline, type TimelineRow } from "../../ui/flow/timeline.tsx";
import type { ListedStep } from "./program.ts";
import { type DrawnCall, type JobRow, jobTimes, type StepsNow, timeWords } from "./timeline-rows.ts";

/** Returns what the service knows about the steps of a job, with the steps and their receipts in maps by step id. */
export function stepsNow(
  job: Pick<Job, "stepReceipts">,
  steps: readonly JobStep[],
  calls: readonly DrawnCall[],
): StepsNow {
  return {
    calls,
    steps: new Map(steps.map((step) => [step.stepId, step])),
    receipts: new Map(job.stepReceipts.map((receipt) => [receipt.stepId, receipt])),
  };
}

/**
 * Draws the timeline of a job. `folded`: ids of the rows that the user closed. `zoom`: the visible part of the time axis, such as `120-600`:
 * from 120 to 600 milliseconds after the first step began.
 */
export function JobTimeline({
  job,
  program,
  now,
  selected,
  folded,
  zoom,
  onChange,
}: {
  job: Job;
  program: readonly ListedStep[];
  now: StepsNow;
  selected: string | undefined;
  folded: string | undefined;
  zoom: string | undefined;
  onChange: (change: { step?: string | undefined; folded?: string | undefined; zoom?: string | undefined }) => void;
}) {
  const times = useMemo(() => jobTimes(job, program, now), [job, program, now]);
  const closed = useMemo(() => new Set(folded?.split(",")), [folded]);
  const nowMs = useNow();
  const isLive = times.end === undefined;
  const shownMs = isLive ? nowMs : (times.end ?? 0);
  const rows = useMemo(() => {
    const parents = new Set(times.rows.map(({ parent }) => parent));
    return times.rows.map((row) => toRow(row, { parents, closed, nowMs: shownMs }));
  }, [times.rows, closed, shownMs]);
  const stepOf = (id: string | undefined) => times.rows.find((row) => row.id === id)?.stepId;
  const toggle = (id: string) => {
    const next = closed.has(id) ? [...closed].filter((one) => one !== id) : [...closed, id];
    onChange({ folded: next.join(",") || undefined });
  };
  return (
    <Timeline
      label="Steps"
      rows={rows}
      times={times}
      selected={selected}
      zoom={readZoom(zoom)}
      onZoom={(span) => onChange({ zoom: span === undefined ? undefined : `${span.from}-${span.to}` })}
      onToggle={toggle}
      onSelect={(id) => onChange({ step: stepOf(id) })}
    />
  );
}

function toRow(
  row: JobRow,
  { parents, closed, nowMs }: { parents: ReadonlySet<string | undefined>; closed: ReadonlySet<string>; nowMs: number },
): TimelineRow {
  return { ...row, time: timeWords(row, nowMs), isOpen: parents.has(row.id) ? !closed.has(row.id) : undefined };
}

/** Reads the part of the time that the timeline shows from the page's address. */
function readZoom(text: string | undefined): FlowSpan | undefined {
  const [from, to] = text?.split("-").map(Number) ?? [];
  return from === undefined || to === undefined || from >= to ? undefined : { from, to };
}
