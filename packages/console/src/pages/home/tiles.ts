import { type QuerySeriesResponse, Series } from "@svc/gen/stats";
import type { ListAddress } from "./list-link.tsx";

/** Number of hours that a tile counts. It compares them with as many hours before. */
export const tileHours = 24;

/**
 * A large number on the Home page. `value`: the number as text. `change`: the difference from the 24 hours before, in words; empty if those
 * had nothing. `hours`: the count of each of the last 24 hours, oldest first.
 */
export type Tile = {
  readonly title: string;
  readonly value: string;
  readonly change: string;
  readonly hours: readonly number[];
  readonly list: ListAddress;
};

/**
 * Returns the four tiles (large numbers) of Home: events, share of delivered events, tool calls, and succeeded jobs. `answer`: counts per
 * hour for two days.
 */
export function tilesOf(answer: QuerySeriesResponse): Tile[] {
  const sumOf = (series: Series, outcomes?: readonly string[]) => hoursOf(answer, series, outcomes);
  const count = (title: string, hours: readonly number[], list: ListAddress): Tile => {
    const [before, now] = [sum(hours.slice(0, -tileHours)), sum(hours.slice(-tileHours))];
    return {
      title,
      value: now.toLocaleString("en"),
      change: changeOf(before, now),
      hours: hours.slice(-tileHours),
      list,
    };
  };
  const delivered = sumOf(Series.DELIVERIES, ["delivered"]);
  const failed = sumOf(Series.DELIVERIES, ["dead_letter"]);
  const range = { range: "24h" };
  return [
    count("Events", sumOf(Series.EVENTS), { to: "/p/$projectId/events", search: range }),
    rateTile(delivered, failed),
    count("Tool calls", sumOf(Series.CALLS), { to: "/p/$projectId/calls", search: range }),
    count("Jobs succeeded", sumOf(Series.JOBS, ["succeeded"]), {
      to: "/p/$projectId/jobs",
      search: { ...range, status: "succeeded" },
    }),
  ];
}

function rateTile(delivered: readonly number[], failed: readonly number[]): Tile {
  const rateOf = (from: number, to?: number) => {
    const [good, bad] = [sum(delivered.slice(from, to)), sum(failed.slice(from, to))];
    return good + bad === 0 ? undefined : (100 * good) / (good + bad);
  };
  const [before, now] = [rateOf(0, -tileHours), rateOf(-tileHours)];
  const points = before === undefined || now === undefined ? 0 : now - before;
  return {
    title: "Delivered",
    value: now === undefined ? "None yet" : `${roundedRate(now)} %`,
    change: before === undefined || now === undefined ? "" : signed(Math.round(points * 10) / 10, " points"),
    hours: delivered.slice(-tileHours),
    list: { to: "/p/$projectId/deliveries", search: { range: "24h" } },
  };
}

/** Returns a rate with one decimal. A rate below 100 is never shown as 100. */
function roundedRate(rate: number): number {
  return rate === 100 ? 100 : Math.min(99.9, Math.round(rate * 10) / 10);
}

/** Returns the counts of a series per hour, summed over the outcomes. Default: all outcomes. */
function hoursOf({ lines, steps }: QuerySeriesResponse, series: Series, outcomes?: readonly string[]): number[] {
  const counted = lines.filter((line) => line.series === series && (outcomes?.includes(line.outcome) ?? true));
  return Array.from({ length: steps }, (_, hour) => sum(counted.map(({ counts }) => counts[hour] ?? 0)));
}

/** Returns in words how a count differs from the count before. Empty if there was nothing before. */
function changeOf(before: number, now: number): string {
  return before === 0 ? "" : signed(Math.round((100 * (now - before)) / before), " %");
}

function signed(value: number, unit: string): string {
  if (value === 0) return "as yesterday";
  return `${value > 0 ? "+" : "−"}${Math.abs(value).toLocaleString("en")}${unit}`;
}

function sum(counts: readonly number[]): number {
  return counts.reduce((total, one) => total + one, 0);
}
