import { checkFilterText, type EventId, isoTime, mayUseAgentTools, type ProjectPrincipal, requireId } from "@svc/core";
import { deliveriesForProject } from "@svc/db/deliveries/repo";
import { type Event, eventsForProject } from "@svc/db/events/repo";
import { type AgentTool, answered, type ToolAnswer } from "@svc/tools";
import { triggerFaults } from "@svc/triggers";
import { isOnlyProject, type OperatorContext, reads, textsSchema } from "./parts.ts";

/** Events that are shown at once, and deliveries of each. */
const eventsMax = 10;
const deliveriesMax = 20;

type Arguments = { readonly event_id?: string; readonly toolkit?: string; readonly contains?: string };

/** Tells what became of events: when they came, and how each of their deliveries stands. */
export function createWhereIsEventTool(context: OperatorContext): AgentTool {
  return {
    group: "operate",
    listed: {
      name: "where_is_event",
      title: "Where an event is",
      description:
        "Finds events that apps sent to this project, the newest first, and tells of each delivery whether its endpoint has taken it. " +
        "One that is not there never came, or is held back.",
      inputSchema: textsSchema(
        {
          event_id: "The event itself (evt_...).",
          toolkit: "Only events of this app.",
          contains: "Only events whose payload has this text.",
        },
        [],
      ),
      annotations: reads,
    },
    async answer(args, { principal }) {
      const events = await findEvents(context, principal, args as Arguments);
      const shown = await Promise.all(events.map((event) => eventData(context, event)));
      const held = await heldPosts(context, principal, args as Arguments);
      return toAnswer(shown, held);
    },
  };
}

async function findEvents(
  { db }: OperatorContext,
  { projectId }: ProjectPrincipal,
  { event_id: text, toolkit = "", contains = "" }: Arguments,
): Promise<readonly Event[]> {
  const events = eventsForProject(db, projectId);
  if (text !== undefined) {
    const id: EventId = requireId("evt", "event_id", text);
    const event = await events.find(id);
    if (event === undefined) throw triggerFaults.EVENT_NOT_FOUND("event_id", text);
    return [event];
  }
  const filter = { toolkitSlug: toolkit, triggerSlug: "", sinceMs: undefined, untilMs: undefined };
  const page = { after: undefined, limit: eventsMax };
  const payloadContains = checkFilterText("contains", contains);
  if (payloadContains === "") return events.list(filter, page);
  return (await events.walk({ ...filter, entityId: "", payloadContains }, page)).rows.slice(0, eventsMax);
}

async function eventData({ db }: OperatorContext, event: Event) {
  const { id, projectId, triggerSlug, receivedAt } = event;
  const place = { after: undefined, limit: deliveriesMax };
  const found = await deliveriesForProject(db, projectId).list({ eventId: id, subscriptionId: undefined }, place);
  const deliveries = found.map(({ id: deliveryId, state, attempts, lastError, nextAttemptAt, subscriptionId }) => ({
    ...{ deliveryId, subscriptionId, state, attempts, lastError },
    ...(nextAttemptAt !== null && { nextAttemptAt: isoTime(nextAttemptAt) }),
  }));
  return { eventId: id, trigger: triggerSlug, receivedAt: isoTime(receivedAt), deliveries };
}

/** Posts that became no event: the deployment's, so only whoever may release them is told, and only where no other project is beside it. */
async function heldPosts(
  context: OperatorContext,
  principal: ProjectPrincipal,
  { event_id: text, toolkit = "" }: Arguments,
) {
  if (text !== undefined || !mayUseAgentTools(principal, "repair")) return [];
  if (!(await isOnlyProject(context, principal))) return [];
  const filter = { toolkitSlug: toolkit, reason: "", includeReleased: false, sinceMs: undefined, untilMs: undefined };
  const posts = await context.quarantine.list(filter, { after: undefined, limit: eventsMax });
  return posts
    .slice(0, eventsMax)
    .map(({ id, toolkitSlug, reason, detail }) => ({ postId: id, toolkit: toolkitSlug, reason, detail }));
}

type Shown = Awaited<ReturnType<typeof eventData>>;

function toAnswer(events: readonly Shown[], held: Awaited<ReturnType<typeof heldPosts>>): ToolAnswer {
  const lines = events.flatMap(({ eventId, trigger, receivedAt, deliveries }) => [
    `${eventId} ${trigger}, received ${receivedAt}: ${deliveries.length === 0 ? "no subscription takes it" : `${deliveries.length} deliveries`}`,
    ...deliveries.map(({ deliveryId, state, attempts, lastError, nextAttemptAt }) =>
      [`  ${deliveryId} ${state} after ${attempts} attempts`, lastError, nextAttemptAt && `next at ${nextAttemptAt}`]
        .filter(Boolean)
        .join("; "),
    ),
  ]);
  const heldLines = held.map(
    ({ postId, toolkit, reason, detail }) => `${postId} of ${toolkit} is held back: ${reason}. ${detail}`,
  );
  const text = [...lines, ...heldLines].join("\n");
  return answered({ events, ...(held.length > 0 && { held }) }, text === "" ? "No such event has come." : text);
}
