import { Series } from "@svc/gen/stats";
import type { Tone } from "./word.ts";

/** The titles of the charts, by series. */
export const seriesTitles: Record<Series, string> = {
  [Series.UNSPECIFIED]: "",
  [Series.EVENTS]: "Events",
  [Series.DELIVERIES]: "Deliveries by outcome",
  [Series.DELIVERY_LATENCY]: "Event to delivery",
  [Series.CALLS]: "Tool calls by outcome",
  [Series.CALL_LATENCY]: "Call latency",
  [Series.JOBS]: "Jobs that ended",
};

/** The colour of each outcome of a delivery, tool call or job, in the order in which charts show the outcomes. */
const tones: Record<string, Tone> = {
  delivered: "ok",
  retried: "warn",
  dead_letter: "bad",
  ok: "ok",
  held: "warn",
  rate_limited: "warn",
  provider_error: "bad",
  timeout: "bad",
  unreachable: "bad",
  outcome_unknown: "bad",
  succeeded: "ok",
  failed: "bad",
  aborted: "bad",
  rejected: "bad",
  expired: "bad",
  cancelled: "plain",
};
const order = Object.keys(tones);

/**
 * Returns the colour of a chart's line for an outcome, such as `failed`. An unknown name gets the colour `info`. Lines for events have such
 * names, because they are named after toolkits (apps).
 */
export function outcomeTone(outcome: string): Tone {
  return tones[outcome] ?? "info";
}

/**
 * Compares two outcomes for sorting. Known outcomes come first, in the order in which the charts of the console show them. Unknown outcomes
 * follow, sorted by name.
 */
export function compareOutcomes(a: string, b: string): number {
  return rank(a) - rank(b) || a.localeCompare(b);
}

function rank(outcome: string): number {
  const place = order.indexOf(outcome);
  return place === -1 ? order.length : place;
}
