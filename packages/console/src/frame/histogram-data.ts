import { timestampMs } from "@bufbuild/protobuf/wkt";
import { isoTime } from "@svc/core/time";
import { type QuerySeriesResponse, Series } from "@svc/gen/stats";
import { type ChartData, stepAt } from "../ui/chart/chart-data.ts";
import { compareOutcomes, outcomeTone } from "../words/series.ts";
import { spanRequest, type TimeSpan } from "../words/spans.ts";

/**
 * The kinds of counts that the bars above a list can show, by name. Lists use the name, so that their code need not load the API's messages
 * for counts.
 */
export const seriesOf = {
  events: Series.EVENTS,
  deliveries: Series.DELIVERIES,
  calls: Series.CALLS,
  jobs: Series.JOBS,
} as const;

/** Declares the bar chart above a list: what the bars count, and which filters of the list do not change the bars. */
export type ListHistogram<Search> = {
  series: keyof typeof seriesOf;
  /** Name of the counted things, such as `Delivery attempts`. */
  counts: string;
  /** The time by which the list goes, such as `creation`, if the counts go by another time. */
  listTime?: string;
  /** Returns the words of an outcome, such as `failed`. Without it, the bars are of one kind. */
  outcome?: (outcome: string) => string;
  /** Returns what the list's filters select of the series. `has`: true for the outcomes that count; all by default. */
  of: (search: Search) => { subscriptionId?: string; toolSlug?: string; has?: (outcome: string) => boolean };
  /** The filters that the counts cannot follow, by search parameter, in words. */
  ignores: { readonly [Name in keyof Search]?: string };
};

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

/** Lengths of a bar. The service counts by minutes, and further back by hours. */
const stepsMs = [
  ...[1, 2, 5, 10, 15, 30].map((minutes) => minutes * minuteMs),
  ...[1, 2, 3, 6, 12].map((hours) => hours * hourMs),
  ...[1, 7, 30].map((days) => days * dayMs),
];
/** Number of bars for which a length is chosen. The minute that has not ended yet may add one. */
const barsMax = 120;
/** Age up to which the service has counts by minutes, less an hour for differences of clocks. */
const minutesAgeMs = 46 * hourMs;

/**
 * Returns the times that the bars above a list cover, and the length of a bar. A span without a start begins a day before its end. Undefined
 * if the span ends before it starts. `now`: current time in milliseconds.
 */
export function histogramSpan(
  span: TimeSpan,
  now: number,
): { sinceMs: number; untilMs: number; stepMs: number } | undefined {
  const { since, until } = spanRequest(span, now);
  const untilMs = until === undefined ? (Math.floor(now / minuteMs) + 1) * minuteMs : timestampMs(until);
  const sinceMs = since === undefined ? untilMs - dayMs : timestampMs(since);
  if (sinceMs >= untilMs) return undefined;
  const least = Math.max((untilMs - sinceMs - minuteMs) / barsMax, sinceMs < now - minutesAgeMs ? hourMs : 0);
  return { sinceMs, untilMs, stepMs: stepsMs.find((step) => step >= least) ?? 30 * dayMs };
}

/** Returns the bars of the chart above a list, made from the service's counts. Outcomes that the list's filters exclude are left out. */
export function histogramData<Search>(
  answer: QuerySeriesResponse,
  { series, outcome, of }: ListHistogram<Search>,
  search: Search,
): ChartData {
  const { has = () => true } = of(search);
  const lines = answer.lines
    .filter((line) => line.series === seriesOf[series] && has(line.outcome))
    .map((line) => ({
      ...{ id: line.outcome, label: outcome?.(line.outcome) ?? line.outcome, tone: outcomeTone(line.outcome) },
      ...{ values: line.counts, total: line.counts.reduce((sum, count) => sum + count, 0) },
    }))
    .sort((a, b) => compareOutcomes(a.id, b.id));
  const total = lines.reduce((sum, line) => sum + line.total, 0);
  const values = Array.from({ length: answer.steps }, (_, step) =>
    lines.reduce((sum, line) => sum + (line.values[step] ?? 0), 0),
  );
  const one = { id: "", label: "", tone: "info" as const, values, total };
  return {
    of: "counts",
    startMs: answer.since === undefined ? 0 : timestampMs(answer.since),
    stepMs: answer.stepSeconds * 1_000,
    steps: answer.steps,
    lines: outcome === undefined ? (total === 0 ? [] : [one]) : lines,
  };
}

/**
 * Returns the time span of the bars with the indexes `from` to `to`. If it reaches up to now, it has no end, so that the list continues to
 * show new rows.
 */
export function spanOfBars(data: ChartData, from: number, to: number, now: number): TimeSpan {
  const { sinceMs } = stepAt(data, Math.min(from, to));
  const { untilMs } = stepAt(data, Math.max(from, to));
  return { range: undefined, since: isoTime(sinceMs), until: untilMs > now ? undefined : isoTime(untilMs) };
}

/** Returns a sentence that names the filters which are set and which do not change the bars above the list. Empty if there are none. */
export function ignoredWords<Search extends object>({ ignores }: ListHistogram<Search>, search: Search): string {
  const names = Object.entries<string | undefined>(ignores as Record<string, string>).flatMap(([name, words]) =>
    (search as Record<string, unknown>)[name] === undefined || words === undefined ? [] : [words],
  );
  return names.length === 0 ? "" : `The bars do not follow the filter by ${names.join(" and ")}.`;
}
