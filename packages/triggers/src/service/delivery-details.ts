import { create } from "@bufbuild/protobuf";
import { timestampFromMs, timestampMs } from "@bufbuild/protobuf/wkt";
import type { EventId, ProjectPrincipal } from "@svc/core";
import { type AttemptMark, readAttemptMarks, readShortEvents, type ShortEvent } from "@svc/db/deliveries/read-marks";
import type { Delivery } from "@svc/db/deliveries/repo";
import { defaultRetryScheduleMs } from "@svc/delivery";
import { AttemptMarkSchema, type Delivery as DeliveryMessage, EventGlanceSchema } from "@svc/gen/triggers";
import { glanceOf } from "../glance.ts";
import type { TriggersContext } from "./context.ts";
import { viewOf } from "./portal-scope.ts";

/** A delivery as a row and as a message, with its subscription's own retry schedule in milliseconds; undefined if it has none. */
type Detailed = {
  readonly row: Delivery;
  readonly message: DeliveryMessage;
  readonly scheduleMs: readonly number[] | undefined;
};

/**
 * Sets the details of deliveries: the event in short, the attempts, and the attempts that are planned. A portal key gets no events, because
 * the project may not offer their types.
 */
export async function addDetails(
  context: TriggersContext,
  caller: ProjectPrincipal,
  deliveries: readonly Detailed[],
): Promise<void> {
  const { db } = context;
  const { projectId, portal } = caller;
  const [marks, events, view] = await Promise.all([
    readAttemptMarks(
      db,
      projectId,
      deliveries.map(({ row }) => row.id),
    ),
    portal === undefined
      ? readShortEvents(
          db,
          projectId,
          deliveries.map(({ row }) => row.eventId),
        )
      : new Map<EventId, ShortEvent>(),
    viewOf(context, caller),
  ]);
  for (const { row, message, scheduleMs = context.retryScheduleMs ?? defaultRetryScheduleMs } of deliveries) {
    const attempts = marks.get(row.id) ?? [];
    const event = events.get(row.eventId);
    if (event !== undefined)
      message.event = create(EventGlanceSchema, { triggerSlug: event.triggerSlug, text: glanceOf(view, event) });
    message.attemptMarks = attempts.map(markMessage);
    message.lastStatusCode = attempts.at(-1)?.statusCode ?? 0;
    if (row.state !== "pending") continue;
    message.maxAttempts = scheduleMs.length + 1;
    message.plannedAttempts = plannedMs(message, attempts.at(-1)?.number ?? 0, scheduleMs).map(timestampFromMs);
  }
}

function markMessage({ startedAt, statusCode, error, durationMs }: AttemptMark) {
  return create(AttemptMarkSchema, { at: timestampFromMs(startedAt), statusCode, error, durationMs });
}

/**
 * Returns the times of the attempts that follow if all of them fail, epoch milliseconds. `made`: number of attempts of the retry schedule
 * that were made.
 */
function plannedMs({ nextAttemptAt }: DeliveryMessage, made: number, scheduleMs: readonly number[]): number[] {
  if (nextAttemptAt === undefined) return [];
  const times = [timestampMs(nextAttemptAt)];
  for (const waitMs of scheduleMs.slice(made)) times.push((times.at(-1) ?? 0) + waitMs);
  return times;
}
