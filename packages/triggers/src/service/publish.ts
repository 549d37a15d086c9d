import { timestampMs } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import { requireProject } from "@svc/core";
import { type EventToPublish, PublishOutcome, type TriggersService } from "@svc/gen/triggers";
import { triggerFaults } from "../errors.ts";
import { type PublishedEvent, type PublishResult, publishEvents } from "../own/publish.ts";
import type { TriggersContext } from "./context.ts";

type Methods = Pick<ServiceImpl<typeof TriggersService>, "publishEvent" | "publishEvents">;

/** Maximum number of events that one call of PublishEvents may publish. */
const eventsMax = 1_000;

const outcomes = {
  stored: PublishOutcome.STORED,
  duplicate: PublishOutcome.DUPLICATE,
  refused: PublishOutcome.REFUSED,
} as const;

/** Returns the methods PublishEvent and PublishEvents. */
export function publishMethods(context: TriggersContext): Methods {
  return {
    async publishEvent(req, ctx) {
      const { projectId } = requireProject(ctx);
      const [result] = await publishEvents(context, projectId, [publishedEvent(req)]);
      if (result === undefined) throw new Error("each event has a result");
      if (result.outcome === "refused") throw result.fault;
      return { eventId: result.eventId, outcome: outcomes[result.outcome] };
    },

    async publishEvents({ events }, ctx) {
      const { projectId } = requireProject(ctx);
      if (events.length === 0 || events.length > eventsMax)
        throw triggerFaults.EVENTS_TOO_MANY(events.length, eventsMax);
      const results = await publishEvents(context, projectId, events.map(publishedEvent));
      return { results: results.map(resultMessage) };
    },
  };
}

function publishedEvent({
  type,
  payloadJson,
  entityId,
  key,
  occurredAt,
}: Pick<EventToPublish, "type" | "payloadJson" | "entityId" | "key" | "occurredAt">): PublishedEvent {
  return { type, payloadJson, entityId, key, occurredAtMs: occurredAt && timestampMs(occurredAt) };
}

function resultMessage(result: PublishResult) {
  const outcome = outcomes[result.outcome];
  if (result.outcome !== "refused") return { eventId: result.eventId, outcome };
  const { message, details, retryAfterMs = 0 } = result.fault;
  const [{ reason = "", help = "" } = {}] = details;
  const faults = [...result.faults];
  return { outcome, error: { reason, message, help, faults, retryAfterMs: BigInt(Math.ceil(retryAfterMs)) } };
}
