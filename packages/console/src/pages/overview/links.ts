import { isoTime } from "@svc/core/time";
import { Series } from "@svc/gen/stats";
import { othersId } from "./charts.ts";

/** The list that a chart was counted from: its route, and the parameter that has a line's outcome. */
const lists: Partial<Record<Series, { to: string; outcome?: string; search?: Record<string, string> }>> = {
  [Series.EVENTS]: { to: "/p/$projectId/events", outcome: "toolkit" },
  [Series.DELIVERIES]: { to: "/p/$projectId/deliveries", outcome: "state" },
  [Series.DELIVERY_LATENCY]: { to: "/p/$projectId/deliveries", search: { state: "delivered" } },
  [Series.CALLS]: { to: "/p/$projectId/calls", outcome: "outcome" },
  [Series.CALL_LATENCY]: { to: "/p/$projectId/calls" },
  [Series.JOBS]: { to: "/p/$projectId/jobs", outcome: "status" },
};

/** Where a point of a chart, or one line of it, leads: the list, filtered to what was counted. */
export function listOf(
  series: Series,
  { line, sinceMs, untilMs }: { line?: string; sinceMs: number; untilMs: number },
): { to: string; search: Record<string, string> } | undefined {
  const list = lists[series];
  if (list === undefined) return undefined;
  // An attempt that is made again belongs to a delivery that waits or ended; the list has no state for it.
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
