import { clockWords, durationWords, type Zone } from "../../words/time.ts";
import type { Tone } from "../../words/word.ts";

/** One line of a chart. Its dash follows from its index, so that lines differ by more than their colour. */
export type ChartLine = {
  id: string;
  label: string;
  tone: Tone;
  /** A value for each step; null if nothing was measured. */
  values: readonly (number | null)[];
  /** The total of all steps. */
  total: number | null;
};

/** A series over time, step by step. Times and durations are in milliseconds. */
export type ChartData = {
  /** Kind of the values: numbers, or durations. */
  of: "counts" | "durations";
  startMs: number;
  stepMs: number;
  steps: number;
  lines: readonly ChartLine[];
};

const dashes: readonly (readonly number[])[] = [[], [6, 4], [2, 3], [10, 3, 2, 3], [12, 5], [4, 2, 2, 2]];

/** Returns the dash of the line at this index of its chart, in pixels; empty for a solid line. */
export function dashOf(place: number): readonly number[] {
  return dashes[place % dashes.length] ?? [];
}

/** Returns the start and the end of a step. */
export function stepAt({ startMs, stepMs }: ChartData, step: number): { sinceMs: number; untilMs: number } {
  return { sinceMs: startMs + step * stepMs, untilMs: startMs + (step + 1) * stepMs };
}

/** Returns a value as text: `1,204`, `340 ms`; `none` if nothing was measured. */
export function valueWords(of: ChartData["of"], value: number | null): string {
  if (value === null) return "none";
  return of === "durations" ? durationWords(value) : value.toLocaleString("en");
}

const dayMs = 86_400_000;

/** Returns a step as text: `14:05 to 14:13`, with the day if the chart has more than one. */
export function stepWords(data: ChartData, step: number, zone: Zone): string {
  const { sinceMs, untilMs } = stepAt(data, step);
  const from = clockWords(sinceMs, zone).slice(0, 16);
  const to = clockWords(untilMs, zone).slice(0, 16);
  const sameDay = from.slice(0, 10) === to.slice(0, 10);
  return `${data.steps * data.stepMs < dayMs ? from.slice(11) : from.slice(5)} to ${sameDay ? to.slice(11) : to.slice(5)}`;
}

/** Returns a step with its values: `14:05 to 14:13: delivered 20, retried 3`. */
export function pointWords(data: ChartData, step: number, zone: Zone): string {
  const values = data.lines.map(({ label, values }) => `${label} ${valueWords(data.of, values[step] ?? null)}`);
  return `${stepWords(data, step, zone)}: ${values.join(", ")}`;
}

/** Returns a summary of a chart, in one sentence: the highest number of a step, or the longest duration. */
export function summaryWords(data: ChartData, zone: Zone): string {
  const sums = Array.from({ length: data.steps }, (_, step) => {
    const values = data.lines.map((line) => line.values[step] ?? 0);
    return data.of === "counts" ? values.reduce((sum, value) => sum + value, 0) : Math.max(0, ...values);
  });
  const most = Math.max(0, ...sums);
  if (most === 0) return "None in this range.";
  const when = stepWords(data, sums.indexOf(most), zone);
  return data.of === "counts"
    ? `At most ${valueWords("counts", most)}, ${when}.`
    : `At most ${valueWords("durations", most)}, ${when}. Estimates.`;
}

/** Returns the point that a key moves to from another; undefined if the key does not move. */
export function pointOfKey(key: string, step: number | undefined, steps: number): number | undefined {
  const last = steps - 1;
  const from = step ?? (key === "ArrowLeft" || key === "ArrowDown" ? steps : -1);
  const to: Record<string, number> = {
    ArrowLeft: from - 1,
    ArrowDown: from - 1,
    ArrowRight: from + 1,
    ArrowUp: from + 1,
    PageDown: from - 10,
    PageUp: from + 10,
    Home: 0,
    End: last,
  };
  const found = to[key];
  return found === undefined ? undefined : Math.min(last, Math.max(0, found));
}
