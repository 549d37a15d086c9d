import type { BenchContext } from "../case.ts";
import { postKind } from "../post-kinds.ts";
import { type RoundsResult, runRounds } from "../rounds.ts";
import { deliveringServer } from "../server-variant.ts";
import { idleProgram, listeningServer } from "./setting.ts";

/** Names of the variants in the report. */
export const eventVariants = { deliveries: "events to deliveries", runs: "events to runs" } as const;

/** Measures posts as fast as they are accepted: delivered to one endpoint, and each starting a run of one program. */
export function measureEvents(ctx: BenchContext): Promise<RoundsResult[]> {
  const { settings } = ctx;
  // Each event has a lane of its own, so that none waits for another.
  const definition = {
    source: { trigger: { slug: postKind("order").triggerSlug } },
    overlap: { policy: "queueAll", key: { $ref: "event.payload.id" } },
    program: idleProgram("One order"),
  };
  return runRounds(
    ctx,
    [deliveringServer(settings, eventVariants.deliveries), listeningServer(ctx, eventVariants.runs, definition)],
    { post: "order", rounds: settings.rounds ?? 3, seconds: settings.seconds ?? 6 },
  );
}
