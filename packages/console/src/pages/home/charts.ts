import { timestampMs } from "@bufbuild/protobuf/wkt";
import { isoTime } from "@svc/core/time";
import { type LatencyLine, type QuerySeriesResponse, Series, type SeriesLine } from "@svc/gen/stats";
import type { ChartData, ChartLine } from "../../ui/chart/chart-data.ts";
import { compareOutcomes, outcomeTone, seriesTitles } from "../../words/series.ts";

/** One chart of Home. */
type ActivityChart = { series: Series; title: string; data: ChartData };

/** The charts of Home, in their order. */
const shown: readonly Series[] = [
  Series.EVENTS,
  Series.DELIVERIES,
  Series.DELIVERY_LATENCY,
  Series.CALLS,
  Series.CALL_LATENCY,
  Series.JOBS,
];

const durations: readonly Series[] = [Series.DELIVERY_LATENCY, Series.CALL_LATENCY];

/** Maximum number of lines of a chart: the largest ones, and one line for the sum of all others. */
const linesMax = 5;

/**
 * Returns the charts of Home, made from the counts and durations that the service returned. A chart has no lines if nothing was counted
 * in its time range.
 */
export function chartsOf(answer: QuerySeriesResponse): ActivityChart[] {
  const frame = {
    startMs: answer.since === undefined ? 0 : timestampMs(answer.since),
    stepMs: answer.stepSeconds * 1_000,
    steps: answer.steps,
  };
  return shown.map((series) => ({
    series,
    title: seriesTitles[series] ?? "",
    data: durations.includes(series)
      ? { of: "durations", ...frame, lines: percentiles(answer.latencies.find((line) => line.series === series)) }
      : { of: "counts", ...frame, lines: counts(answer.lines.filter((line) => line.series === series)) },
  }));
}

function counts(lines: readonly SeriesLine[]): ChartLine[] {
  const ofOutcome = lines.map(
    ({ outcome, counts }): ChartLine => ({
      id: outcome,
      label: outcome === "" ? "no app" : outcome,
      tone: outcomeTone(outcome),
      values: counts,
      total: counts.reduce((sum, count) => sum + count, 0),
    }),
  );
  const largest = [...ofOutcome].sort((a, b) => (b.total ?? 0) - (a.total ?? 0));
  const kept = largest.slice(0, ofOutcome.length > linesMax ? linesMax - 1 : linesMax);
  const others = largest.slice(kept.length);
  const sorted = kept.sort((a, b) => compareOutcomes(a.id, b.id));
  return others.length === 0 ? sorted : [...sorted, together(others)];
}

/** Id of the line in a chart that sums up several small lines. */
const othersId = "others";

function together(lines: readonly ChartLine[]): ChartLine {
  const values = (lines[0]?.values ?? []).map((_, step) =>
    lines.reduce((sum, line) => sum + (line.values[step] ?? 0), 0),
  );
  const total = values.reduce((sum, value) => sum + value, 0);
  return { id: othersId, label: `${lines.length} others`, tone: "plain", values, total };
}

const shares = [
  ["p50", "p50Ms", "info"],
  ["p95", "p95Ms", "plain"],
  ["p99", "p99Ms", "warn"],
] as const;

function percentiles(line: LatencyLine | undefined): ChartLine[] {
  if (line === undefined || (line.total?.count ?? 0) === 0) return [];
  return shares.map(([id, field, tone]) => ({
    id,
    label: id,
    tone,
    values: line.steps.map((step) => (step.count === 0 ? null : step[field])),
    total: line.total?.[field] ?? null,
  }));
}

/**
 * The list page that shows what a chart counts, by series. `to`: the route of the page. `outcome`: the search parameter of the page that
 * selects one line of the chart (for example `status`). `search`: further search parameters.
 */
const lists: Partial<Record<Series, { to: string; outcome?: string; search?: Record<string, string> }>> = {
  [Series.EVENTS]: { to: "/p/$projectId/events", outcome: "toolkit" },
  [Series.DELIVERIES]: { to: "/p/$projectId/deliveries", outcome: "state" },
  [Series.DELIVERY_LATENCY]: { to: "/p/$projectId/deliveries", search: { state: "delivered" } },
  [Series.CALLS]: { to: "/p/$projectId/calls", outcome: "outcome" },
  [Series.CALL_LATENCY]: { to: "/p/$projectId/calls" },
  [Series.JOBS]: { to: "/p/$projectId/jobs", outcome: "status" },
};

/** Returns the list page to which a point or a line of a chart links. Its filters show the rows that the chart counted. */
export function listOf(
  series: Series,
  { line, sinceMs, untilMs }: { line?: string; sinceMs: number; untilMs: number },
): { to: string; search: Record<string, string> } | undefined {
  const list = lists[series];
  if (list === undefined) return undefined;
  // True if the line's outcome is a filter of the list. `retried` is not, because a delivery with a retried attempt may be in any state.
  const named = line !== undefined && line !== "" && line !== othersId && line !== "retried" && !/^p\d\d$/.test(line);
  return {
    to: list.to,
    search: {
      ...list.search,
      since: isoTime(sinceMs),
      until: isoTime(untilMs),
      ...(named && list.outcome !== undefined && { [list.outcome]: line }),
    },
  };
}
