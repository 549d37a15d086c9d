import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { HandlerContext, ServiceImpl } from "@connectrpc/connect";
import { catalogFaults, shownSampleMs, type Trigger, type Webhook } from "@svc/catalog";
import {
  byId,
  checkFilterText,
  isRowInScope,
  type ProjectId,
  projectList,
  requireId,
  requireProject,
  timeRange,
  waitContext,
  webhookBase,
} from "@svc/core";
import { countDeliveriesOfEvents } from "@svc/db/deliveries/read";
import { eventsForProject } from "@svc/db/events/repo";
import { webhookSecretsForProject } from "@svc/db/secrets/webhook-secrets";
import {
  type IngestEndpoint,
  IngestEndpointSchema,
  type TriggersService,
  WebhookSecretSchema,
} from "@svc/gen/triggers";
import { eventMessage } from "../convert.ts";
import { triggerFaults } from "../errors.ts";
import { glanceOf } from "../glance.ts";
import { heldMsMax } from "../polls/polls.ts";
import { openCursor, positionAt, sealCursor } from "../polls/position.ts";
import { faultOfPrivateWebhook, faultOfWebhook, isSecretSet } from "../verify.ts";
import type { TriggersContext } from "./context.ts";
import { findReadableEvent } from "./portal-scope.ts";
import { triggerSlugOf } from "./request.ts";
import { payloadsOf, requireFilter } from "./subscription-match.ts";
import { webhookSecretFields } from "./webhook-secrets.ts";

type Methods = Pick<
  ServiceImpl<typeof TriggersService>,
  "listEvents" | "pollEvents" | "getEvent" | "listIngestEndpoints"
>;

/** Returns the methods ListEvents, PollEvents, GetEvent and ListIngestEndpoints. */
export function eventMethods(context: TriggersContext): Methods {
  const { db, views, sealer, polls } = context;
  return {
    listEvents: projectList(sealer, {
      call: "ListEvents",
      order: byId("evt"),
      filter: ({ toolkitSlug, triggerSlug, entityId, payloadContains, since, until }) => ({
        toolkitSlug,
        triggerSlug: triggerSlugOf(toolkitSlug, triggerSlug),
        entityId,
        payloadContains: checkFilterText("payloadContains", payloadContains),
        ...timeRange(since, until),
      }),
      rows: ({ filter, page, caller: { projectId } }) => {
        const events = eventsForProject(db, projectId);
        const isWalk = filter.entityId !== "" || filter.payloadContains !== "";
        return isWalk ? events.walk(filter, page) : events.list(filter, page);
      },
      isInScope: (row, binding) => isRowInScope(row, binding),
      async answer(rows, { request, caller: { projectId } }) {
        const ids = request.withDeliveries ? rows.map(({ id }) => id) : [];
        const counts = await countDeliveriesOfEvents(db, projectId, ids);
        const events = rows.map((row) => eventMessage(row, counts.get(row.id)));
        if (!request.withGlance) return { events };
        const view = await views.forProject(projectId);
        for (const event of events)
          event.glance = glanceOf(view, { triggerSlug: event.triggerSlug, payload: event.payloadJson });
        return { events };
      },
    }),

    async pollEvents(request, ctx) {
      const { projectId, binding } = requireProject(ctx);
      const { toolkitSlug, entityId: asked, cursor } = request;
      const { sinceMs } = timeRange(request.since, undefined);
      const own = binding?.entityId ?? "";
      const events = {
        toolkitSlug,
        triggerSlugs: request.triggerSlugs.map((slug) => triggerSlugOf(toolkitSlug, slug)),
        entityId: asked || own,
        readableToolkits: binding?.toolkitSlugs ?? [],
      };
      const { filter } = request;
      if (filter !== "")
        requireFilter("filter", filter, payloadsOf(await views.forProject(projectId), { ...events, triggerSlug: "" }));
      const scope = { projectId, events, filter: filter || undefined };
      const opened = cursor === "" ? undefined : openCursor(sealer, scope, cursor);
      if (cursor !== "" && opened === undefined) throw triggerFaults.CURSOR_INVALID(cursor);
      const position = opened ?? (sinceMs === undefined ? undefined : positionAt(sinceMs));
      // A key that is scoped to one entity gets no events of another entity. Lists of events follow the same rule.
      if (position === undefined || (own !== "" && own !== events.entityId))
        return { cursor: sealCursor(sealer, scope, position ?? (await polls.now(scope))) };
      const page = await polls.poll(scope, {
        position,
        max: Math.min(request.maxEvents || pollSizes.fallback, pollSizes.max),
        waitMs: waitOf(request.waitMs, ctx),
        signal: ctx.signal,
        onHeld: ctx.values.get(waitContext),
      });
      return {
        events: page.events.map((row) => eventMessage(row)),
        cursor: sealCursor(sealer, scope, page.position),
        hasMore: page.hasMore,
        truncated: page.truncated,
      };
    },

    async getEvent(req, ctx) {
      const caller = requireProject(ctx);
      const row = await findReadableEvent(context, caller, requireId("evt", "id", req.id));
      const isInScope = row !== undefined && (caller.portal !== undefined || isRowInScope(row, caller.binding));
      if (!isInScope) throw triggerFaults.EVENT_NOT_FOUND("id", req.id);
      // The key of a published event is the project's own id, which deliveries do not contain.
      return { event: eventMessage(caller.portal === undefined ? row : { ...row, dedupeKey: "" }) };
    },

    async listIngestEndpoints({ projectId: asked, withLastEvents }, ctx) {
      const { projectId } = requireProject(ctx);
      if (asked !== "" && asked !== projectId) throw catalogFaults.PROJECT_NOT_FOUND(asked);
      const shared = sharedEndpoints(context);
      if (asked === "") return { endpoints: shared };
      const own = await privateEndpoints(context, projectId);
      const endpoints = [...shared, ...own].sort((a, b) => (a.toolkitSlug < b.toolkitSlug ? -1 : 1));
      if (withLastEvents) await addLastEvents(context, projectId, endpoints);
      return { endpoints };
    },
  };
}

/** Sets when the newest event of each app came in that can post to the project. Costs one index lookup for each trigger of an app. */
async function addLastEvents(
  { db }: TriggersContext,
  projectId: ProjectId,
  endpoints: readonly IngestEndpoint[],
): Promise<void> {
  const events = eventsForProject(db, projectId);
  for (const endpoint of endpoints) {
    if (!endpoint.secretSet) continue;
    const filter = { toolkitSlug: endpoint.toolkitSlug, triggerSlug: "", sinceMs: undefined, untilMs: undefined };
    const [event] = await events.list(filter, { after: undefined, limit: 1 });
    if (event !== undefined) endpoint.lastEventAt = timestampFromMs(event.receivedAt);
  }
}

/** Default and maximum number of events that a poll returns. */
const pollSizes = { fallback: 100, max: 1_000 };

/**
 * Returns how long a poll may wait for events, in milliseconds. The wait ends a second before the timeout of the caller, so that the caller
 * still gets the answer.
 */
function waitOf(waitMs: number, { timeoutMs }: HandlerContext): number {
  return Math.min(waitMs, heldMsMax, Math.max(0, (timeoutMs() ?? Number.POSITIVE_INFINITY) - 1_000));
}

function sharedEndpoints({ catalog, cell, secretOf }: TriggersContext): IngestEndpoint[] {
  return [...catalog.toolkits.values()].flatMap(({ slug, webhook, triggers }) => {
    if (webhook === undefined) return [];
    return [
      ingestEndpointMessage(webhook, triggers[0], {
        ...{ toolkitSlug: slug, path: `${webhookBase(cell)}${slug}`, secretEnv: webhook.secretEnv },
        secretSet: isSecretSet(webhook, secretOf),
        fault: faultOfWebhook(webhook, secretOf) ?? "",
      }),
    ];
  });
}

async function privateEndpoints(
  { db, views, clock, cell, secretOf, privateWebhooks }: TriggersContext,
  projectId: ProjectId,
): Promise<IngestEndpoint[]> {
  const { toolkits } = await views.forProject(projectId);
  const live = await webhookSecretsForProject(db, projectId).list(clock.now());
  const endpoints: IngestEndpoint[] = [];
  for (const { slug, ownerProjectId } of toolkits.values()) {
    const found = ownerProjectId === projectId ? await privateWebhooks.find(projectId, slug) : undefined;
    if (found === undefined) continue;
    const { webhook, triggers } = found.toolkit;
    endpoints.push(
      ingestEndpointMessage(webhook, triggers[0], {
        ...{ toolkitSlug: slug, path: `${webhookBase(cell)}${projectId}/${slug}`, projectId },
        secretSet: found.isSecretSet,
        fault: faultOfPrivateWebhook(found, secretOf) ?? "",
        secrets: live
          .filter(({ toolkitSlug }) => toolkitSlug === slug)
          .map((secret) => create(WebhookSecretSchema, webhookSecretFields(secret))),
      }),
    );
  }
  return endpoints;
}

/**
 * Fields of an ingest endpoint (incoming webhook path) that differ between toolkits of all projects (shared) and toolkits that one project
 * defined (private).
 */
type EndpointFields = Pick<IngestEndpoint, "toolkitSlug" | "path" | "secretSet" | "fault"> &
  Partial<Pick<IngestEndpoint, "secretEnv" | "projectId" | "secrets">>;

/**
 * Returns an ingest endpoint (the path to which an app posts its webhooks) as a message of the API. The sample post in it is the same at
 * every call.
 */
function ingestEndpointMessage(webhook: Webhook, trigger: Trigger | undefined, fields: EndpointFields): IngestEndpoint {
  const { scheme, header, prefix, encoding, parameter, methods } = webhook;
  // Clients that only know the first version of the signature schemes read these fields. So each field has a value only for the schemes
  // that its comment in the API names.
  const signing = scheme === "slack_v0" ? {} : { header, prefix, encoding, parameter };
  const base = {
    ...{ ...fields, scheme, ...signing },
    verifierJson: JSON.stringify(webhook.parameters),
    methods: [...methods],
  };
  if (trigger === undefined) return create(IngestEndpointSchema, base);
  const { headers, query, body } = trigger.sample(shownSampleMs);
  const bodyJson = body === undefined ? "" : JSON.stringify(body);
  return create(IngestEndpointSchema, { ...base, sample: { triggerSlug: trigger.slug, headers, query, bodyJson } });
}
