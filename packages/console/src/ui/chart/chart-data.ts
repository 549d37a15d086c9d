import { clockWords, durationWords, type Zone } from "../../words/time.ts";
import type { Tone } from "../../words/word.ts";

/** One line of a chart. Its index determines its dash pattern, so that lines differ not only in colour. */
export type ChartLine = {
  id: string;
  label: string;
  tone: Tone;
  /** The line's value at each position of the time axis. Null if nothing was measured there. */
  values: readonly (number | null)[];
  /** The total of this line over the whole time of the chart. Null if the service sent no total for the line. */
  total: number | null;
};

/** The values of a chart over time, divided into steps. Times and durations are in milliseconds. */
export type ChartData = {
  /** Kind of the values. `counts`: numbers of things. `durations`: milliseconds. */
  of: "counts" | "durations";
  startMs: number;
  stepMs: number;
  steps: number;
  lines: readonly ChartLine[];
};

const dashes: readonly (readonly number[])[] = [[], [6, 4], [2, 3], [10, 3, 2, 3], [12, 5], [4, 2, 2, 2]];

/** Returns the dash pattern of a line, by its index in the chart. Lengths are in pixels. Empty for a solid line. */
export function dashOf(place: number): readonly number[] {
  return dashes[place % dashes.length] ?? [];
}

/** Returns the start and end of one time step of a chart, in epoch milliseconds. */
export function stepAt({ startMs, stepMs }: ChartData, step: number): { sinceMs: number; untilMs: number } {
  return { sinceMs: startMs + step * stepMs, untilMs: startMs + (step + 1) * stepMs };
}

/** Returns a value as text (for example `1,204` or `340 ms`). Returns `none` if nothing was measured. */
export function valueWords(of: ChartData["of"], value: number | null): string {
  if (value === null) return "none";
  return of === "durations" ? durationWords(value) : value.toLocaleString("en");
}

const dayMs = 86_400_000;

/** Returns the times of a step as text (for example `14:05 to 14:13`). Adds the day if the chart covers a day or more. */
export function stepWords(data: ChartData, step: number, zone: Zone): string {
  const { sinceMs, untilMs } = stepAt(data, step);
  const from = clockWords(sinceMs, zone).slice(0, 16);
  const to = clockWords(untilMs, zone).slice(0, 16);
  const sameDay = from.slice(0, 10) === to.slice(0, 10);
  return `${data.steps * data.stepMs < dayMs ? from.slice(11) : from.slice(5)} to ${sameDay ? to.slice(11) : to.slice(5)}`;
}

/** Returns the times and the values of a step as text (for example `14:05 to 14:13: delivered 20, retried 3`). */
export function pointWords(data: ChartData, step: number, zone: Zone): string {
  const values = data.lines.map(({ label, values }) => `${label} ${valueWords(data.of, values[step] ?? null)}`);
  return `${stepWords(data, step, zone)}: ${values.join(", ")}`;
}

/** Returns one sentence that says the highest value of a chart, and when it was reached. */
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

/**
 * Returns the position in a chart to which a pressed key moves the selection; undefined if the key does not move it. `step`: the selected
 * position. `steps`: the number of positions.
 */
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
