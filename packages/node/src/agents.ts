import type { CatalogViews } from "@svc/catalog";
import { makeConnectLink } from "@svc/connections";
import {
  checkFilterText,
  type EventId,
  isoTime,
  LeastRecentlyUsed,
  mayUseAgentTools,
  type ProjectId,
  type ProjectPrincipal,
  requireId,
} from "@svc/core";
import { noteAgentCall } from "@svc/db/activity/start";
import { type Delivery, deliveriesForProject } from "@svc/db/deliveries/repo";
import { type Event, eventsForProject } from "@svc/db/events/repo";
import { type Subscription, subscriptionsForProject } from "@svc/db/subscriptions/repo";
import type { Dispatcher } from "@svc/delivery";
import type { Jobs } from "@svc/jobs";
import {
  type AgentTool,
  answered,
  createAvailabilityFinder,
  createConnectAccountTool,
  createMcpServer,
  createSkillsOffer,
  createToolsOffer,
  type ListedTool,
  type McpServer,
  type ToolAnswer,
  type ToolCaller,
  type ToolFinder,
} from "@svc/tools";
import { createEventsOffer, type Quarantine, replayEvent, type TriggersContext, triggerFaults } from "@svc/triggers";
import { agentGuides } from "./agent-guides.ts";
import { isOnlyProject, type OperatorContext } from "./operators/parts.ts";
import type { Explain, NodeParts } from "./parts.ts";

/**
 * MCP annotations of a tool that sends an event or a webhook post a second time. Such a tool changes data, is not destructive, and acts on
 * the outside world.
 */
const sends: ListedTool["annotations"] = { readOnlyHint: false, destructiveHint: false, openWorldHint: true };

/** MCP annotations of a tool that only reads. */
const reads: ListedTool["annotations"] = { readOnlyHint: true, destructiveHint: false, openWorldHint: false };

/**
 * Maximum number of delivery attempts that the tool `explain_delivery` shows. If a delivery has more attempts, the tool shows the latest
 * ones.
 */
const attemptsMax = 5;

/** Creates the tool that explains the state of a delivery: its attempts, its endpoint, and what happens next. */
function createExplainDeliveryTool({ db }: OperatorContext): AgentTool {
  return {
    group: "operate",
    listed: {
      name: "explain_delivery",
      title: "Explain a delivery",
      description:
        "Explains the state of a delivery of where_is_event: its last attempts with the answers of the endpoint, the state of its subscription, and what happens next.",
      inputSchema: textsSchema({ delivery_id: "The delivery (dlv_...)." }, ["delivery_id"]),
      annotations: reads,
    },
    async answer({ delivery_id: text }, { principal }) {
      const delivery = await requireDelivery(db, principal, String(text));
      const { projectId } = principal;
      const [log = [], subscription] = await Promise.all([
        deliveriesForProject(db, projectId).findAttempts(delivery.id),
        subscriptionsForProject(db, projectId).find(delivery.subscriptionId),
      ]);
      const attempts = log
        .slice(-attemptsMax)
        .map(({ number, startedAt, durationMs, statusCode, error, responseBody }) => ({
          ...{ number, startedAt: isoTime(startedAt), durationMs, statusCode, error },
          response: responseBody.slice(0, 200).toWellFormed(),
        }));
      const next = nextText(delivery, subscription);
      const lines = attempts.map(({ number, startedAt, statusCode, error, response }) =>
        `attempt ${number} at ${startedAt}: ${statusCode === 0 ? "no answer" : statusCode} ${error} ${response}`.trimEnd(),
      );
      const { id, eventId, subscriptionId, state } = delivery;
      const endpoint = subscription?.endpointUrl ?? "";
      return answered(
        { deliveryId: id, eventId, subscriptionId, endpointUrl: endpoint, state, attempts, next },
        [`${id} of ${eventId} to ${endpoint}: ${state}`, ...lines, next].join("\n"),
      );
    },
  };
}

/** Creates the tool that explains why something failed: the chain of causes, each with an action that may help. */
function createWhyTool(explain: Explain): AgentTool {
  return {
    group: "operate",
    listed: {
      name: "why",
      title: "Explain why",
      description:
        "Explains why an event, delivery, schedule, job, question, tool call or account exists or failed: the chain of causes, each with an action that may help. Without an id, it explains the most frequent failure of the last hour.",
      inputSchema: textsSchema(
        { id: "The resource, such as job_... or dlv_... (default: the most frequent failure)." },
        [],
      ),
      annotations: reads,
    },
    async answer({ id }, { principal }) {
      const why = await explain(principal, typeof id === "string" ? id : undefined);
      const lines = why.map(({ id: of, sentence, remedy }, index) => {
        const start = index === 0 ? "" : "because: ";
        return `${start}${sentence} [${of}]${remedy === "" ? "" : ` May help: ${remedy}.`}`;
      });
      return answered({ why: [...why] }, lines.length === 0 ? "Nothing failed in the last hour." : lines.join("\n"));
    },
  };
}

/**
 * Returns a delivery of the caller's project. Throws ID_MALFORMED for an invalid id, and DELIVERY_NOT_FOUND if the project has no such
 * delivery.
 */
async function requireDelivery(
  db: OperatorContext["db"],
  { projectId }: ProjectPrincipal,
  text: string,
): Promise<Delivery> {
  const delivery = await deliveriesForProject(db, projectId).find(requireId("dlv", "delivery_id", text));
  if (delivery === undefined) throw triggerFaults.DELIVERY_NOT_FOUND("delivery_id", text);
  return delivery;
}

function nextText({ state, nextAttemptAt, lastError }: Delivery, subscription: Subscription | undefined): string {
  if (subscription === undefined) return "Its subscription was deleted, and svc sends nothing any more.";
  if (!subscription.active)
    return "Its subscription is not active: svc sends nothing until it is active. Then retry_delivery sends this delivery again.";
  if (state === "delivered") return "The endpoint has accepted it.";
  if (nextAttemptAt !== null) return `svc sends it again at ${isoTime(nextAttemptAt)}.`;
  return `svc gave it up${lastError === "" ? "" : ` after ${lastError}`}. When the endpoint works again, retry_delivery sends it again.`;
}

/** Maximum number of events in one answer of the tool that finds events. */
const eventsMax = 10;
/** Maximum number of deliveries that this answer shows for each event. */
const deliveriesMax = 20;

type Arguments = { readonly event_id?: string; readonly toolkit?: string; readonly contains?: string };

/** Creates the tool that finds events: when each arrived, and the state of each of its deliveries. */
function createWhereIsEventTool(context: OperatorContext): AgentTool {
  return {
    group: "operate",
    listed: {
      name: "where_is_event",
      title: "Where an event is",
      description:
        "Finds events that apps sent to this project, newest first, and shows for each delivery if its endpoint has accepted it. " +
        "An event that is not there never arrived, or is in quarantine.",
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

/**
 * Returns quarantined webhook posts (posts that svc could not turn into events). Such a post may belong to any project. So the result is
 * empty if the deployment has several projects, or if the caller is not an approver.
 */
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
    `${eventId} ${trigger}, received ${receivedAt}: ${deliveries.length === 0 ? "no subscription matches it" : `${deliveries.length} deliveries`}`,
    ...deliveries.map(({ deliveryId, state, attempts, lastError, nextAttemptAt }) =>
      [`  ${deliveryId} ${state} after ${attempts} attempts`, lastError, nextAttemptAt && `next at ${nextAttemptAt}`]
        .filter(Boolean)
        .join("; "),
    ),
  ]);
  const heldLines = held.map(
    ({ postId, toolkit, reason, detail }) => `${postId} of ${toolkit} is in quarantine: ${reason}. ${detail}`,
  );
  const text = [...lines, ...heldLines].join("\n");
  return answered({ events, ...(held.length > 0 && { held }) }, text === "" ? "No such event has arrived." : text);
}

/** The services of a node (for example jobs, triggers and the catalog) that its MCP server offers to agents. */
type OfferParts = {
  readonly views: CatalogViews;
  readonly caller: ToolCaller;
  readonly jobs: Jobs;
  readonly finder: ToolFinder;
  readonly connecting: Parameters<typeof makeConnectLink>[0];
  readonly triggers: TriggersContext & { readonly dispatcher: Dispatcher };
  readonly quarantine: Quarantine;
};

/** Creates the MCP server of a node. It offers tools, tasks and events. */
export function createAgents(
  parts: NodeParts,
  { views, caller, jobs, finder, connecting, triggers, quarantine }: OfferParts,
): McpServer {
  const { db, clock } = parts;
  const agentTools = [
    ...jobs.agentTools,
    createConnectAccountTool((principal, asked) => makeConnectLink(connecting, principal, asked)),
    ...createOperatorTools({ ...triggers, quarantine }),
    ...(parts.explain === undefined ? [] : [createWhyTool(parts.explain)]),
  ];
  const findAvailability = createAvailabilityFinder(parts);
  const offers = [
    createToolsOffer({
      db,
      clock,
      views,
      caller,
      findAvailability,
      finder,
      agentTools,
      onCall: createAgentMark(parts),
    }),
    jobs.tasksOffer,
    createEventsOffer(triggers),
    createSkillsOffer({ views, guides: agentGuides }),
  ];
  return createMcpServer({ version: parts.version, offers: parts.mcpOffers?.(offers) ?? offers });
}

/** Maximum number of projects that a node knows to have been called by an agent. For other projects, it asks the database again. */
const markedMax = 10_000;

/**
 * Returns a function that records that an agent called a project. For each project, the function writes to the database once in the life of
 * the process. A failed write is tried again with the next call.
 */
function createAgentMark({ db, clock }: Pick<NodeParts, "db" | "clock">): (projectId: ProjectId) => void {
  const known = new LeastRecentlyUsed<ProjectId, true>(markedMax);
  return (projectId) => {
    if (known.get(projectId) !== undefined) return;
    known.set(projectId, true);
    noteAgentCall(db, projectId, clock.now()).catch(() => known.delete(projectId));
  };
}

/** Returns the tools for agents of operators: two that only read, and two that send an event or a webhook post a second time. */
function createOperatorTools(context: OperatorContext): readonly AgentTool[] {
  return [
    createWhereIsEventTool(context),
    createExplainDeliveryTool(context),
    createRetryDeliveryTool(context),
    createReleasePostTool(context),
  ];
}

/** Creates the tool that sends the event of a delivery again. The event goes to the same subscription, as a new delivery. */
function createRetryDeliveryTool(context: OperatorContext): AgentTool {
  return {
    group: "repair",
    listed: {
      name: "retry_delivery",
      title: "Send a delivery again",
      description:
        "Sends the event of a delivery once more to the same subscription, as a new delivery. The receiver knows by the event's id that it is the same.",
      inputSchema: textsSchema({ delivery_id: "The delivery (dlv_...)." }, ["delivery_id"]),
      annotations: sends,
    },
    async answer({ delivery_id: text }, { principal, enter }) {
      const { eventId, subscriptionId } = await requireDelivery(context.db, principal, String(text));
      const deed = { action: "TriggersService.ReplayEvent", subject: eventId };
      const [fresh] = await enter(deed, () => replayEvent(context, principal, { eventId, subscriptionId }));
      if (fresh === undefined)
        return {
          texts: ["Nothing was sent: the subscription is not active, or no longer matches such events."],
          structured: { queued: false },
          isError: true,
        };
      return answered(
        { queued: true, deliveryId: fresh.id },
        `${fresh.id} is queued; explain_delivery shows its state.`,
      );
    },
  };
}

/**
 * Creates the tool that releases a quarantined webhook post (which svc could not turn into an event): svc reads the post again with the
 * current definitions. The tool refuses if the deployment has several projects.
 */
function createReleasePostTool(context: OperatorContext): AgentTool {
  const { quarantine } = context;
  return {
    group: "repair",
    listed: {
      name: "release_post",
      title: "Release a post",
      description:
        "Takes a post out of quarantine (where_is_event names such posts) as if it had just arrived: svc stores and delivers its events. " +
        "Works only if this project is the deployment's only one; otherwise the administrator does it. " +
        "A post that fails again stays in quarantine, and its new reason is returned.",
      inputSchema: textsSchema({ post_id: "The post (qrn_...)." }, ["post_id"]),
      annotations: sends,
    },
    async answer({ post_id: text }, { principal, enter }) {
      const id = requireId("qrn", "post_id", String(text));
      if (!(await isOnlyProject(context, principal)))
        return {
          texts: [
            `Nothing was released: the events of ${id} may belong to other projects of this deployment. Its administrator releases it: svc quarantine release ${id}`,
          ],
          structured: { postId: id, outcome: "refused", accepted: 0, reason: "" },
          isError: true,
        };
      const deed = { action: "AdminService.ReleaseQuarantinedPosts", subject: id };
      const { outcome, accepted, reason } = await enter(deed, () => quarantine.release(id, { dryRun: false }));
      const told = `${id}: ${outcome}, ${accepted} events${reason === "" ? "" : `, ${reason}`}`;
      return { ...answered({ postId: id, outcome, accepted, reason }, told), isError: outcome !== "released" };
    },
  };
}

/** Returns the input schema of a tool whose arguments are texts. */
function textsSchema(properties: Readonly<Record<string, string>>, required: readonly string[]) {
  const described = Object.entries(properties).map(([name, description]) => [name, { type: "string", description }]);
  return {
    type: "object",
    additionalProperties: false,
    required: [...required],
    properties: Object.fromEntries(described),
  } as const;
}
