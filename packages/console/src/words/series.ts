import { Series } from "@svc/gen/stats";
import type { Tone } from "./word.ts";

/** The series of counts and of durations, each with the title of its chart. */
export const seriesTitles: Record<Series, string> = {
  [Series.UNSPECIFIED]: "",
  [Series.EVENTS]: "Events",
  [Series.DELIVERIES]: "Deliveries by outcome",
  [Series.DELIVERY_LATENCY]: "From event to delivery (estimates)",
  [Series.CALLS]: "Tool calls by outcome",
  [Series.CALL_LATENCY]: "How long calls took (estimates)",
  [Series.JOBS]: "Jobs that ended",
};

/** The outcomes that stand first in their chart, in their order, and how each looks. Others follow by their name. */
const known: Record<string, Tone> = {
  delivered: "ok",
  retried: "warn",
  dead_letter: "bad",
  ok: "ok",
  simulated: "info",
  held: "warn",
  error: "bad",
  outcome_unknown: "bad",
  succeeded: "ok",
  failed: "bad",
  aborted: "bad",
  rejected: "bad",
  expired: "bad",
  cancelled: "plain",
};

/** How the line of an outcome looks. */
export function outcomeTone(outcome: string): Tone {
  return known[outcome] ?? "info";
}

/** Puts the outcomes of a series into the order in which charts have them. */
export function compareOutcomes(a: string, b: string): number {
  const order = Object.keys(known);
  const place = (outcome: string) => (order.indexOf(outcome) + order.length) % order.length;
  return known[a] === undefined || known[b] === undefined ? (known[a] === undefined ? 1 : 0) - (known[b] === undefined ? 1 : 0) || a.localeCompare(b) : place(a) - place(b);
}
