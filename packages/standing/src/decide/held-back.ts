import type { BookFacts } from "./book-facts.ts";

/** A start that fails is tried again after so long, and twice as long each time. */
const startRetryMinMs = 5_000;
const startRetryMaxMs = 300_000;
/** So often the start of a run may fail. */
export const startFailuresMax = 8;

/** What becomes of a run that could not be started when it was tried just now, for the `startFailures`th time; undefined for any other. */
export function heldBack({ unstarted, nowMs }: BookFacts, sourceKey: string, startFailures: number) {
  const detail = unstarted.get(sourceKey);
  if (detail === undefined) return undefined;
  const notBefore = nowMs + Math.min(startRetryMaxMs, startRetryMinMs * 2 ** (startFailures - 1));
  return {
    verdict: { kind: "queue", reason: "start_failed", notBefore } as const,
    why: { detail: detail.slice(0, 1_000), startFailures },
  };
}
