import type { NodeObserver } from "@svc/node";
import type { Counters } from "./counters.ts";

/**
 * Returns an observer that counts what the engines report (such as events, deliveries and calls), and then passes each report to
 * `observer`.
 */
export function countActivity(observer: NodeObserver, counters: Counters): NodeObserver {
  const { deliveries, calls, jobs } = observer;
  return {
    ...observer,
    eventStored: counters.stored,
    deliveries: {
      ...deliveries,
      attempted(attempt) {
        counters.attempted(attempt);
        deliveries.attempted(attempt);
      },
    },
    calls: {
      ...calls,
      ended(call, message) {
        counters.toolCalled(call);
        calls.ended(call, message);
      },
    },
    jobs: {
      ...jobs,
      ended(job, failure) {
        counters.jobEnded(job);
        jobs.ended(job, failure);
      },
    },
  };
}
