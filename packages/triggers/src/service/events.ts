import { create } from "@bufbuild/protobuf";
import type { HandlerContext, ServiceImpl } from "@connectrpc/connect";
import { shownSampleMs, type Trigger, type Webhook } from "@svc/catalog";
import {
  byId,
  checkFilterText,
  isRowInScope,
  projectList,
  requireId,
  requireProject,
  timeRange,
  waitContext,
} from "@svc/core";
import { countDeliveriesOfEvents } from "@svc/db/deliveries/read";
import { eventsForProject } from "@svc/db/events/repo";
import { type IngestEndpoint, IngestEndpointSchema, type TriggersService } from "@svc/gen/triggers";
import { eventMessage } from "../convert.ts";
import { triggerFaults } from "../errors.ts";
import { heldMsMax } from "../polls/polls.ts";
import { openCursor, positionAt, sealCursor } from "../polls/position.ts";
import { faultOfWebhook, isSecretSet } from "../verify.ts";
import type { TriggersContext } from "./context.ts";
import { triggerSlugOf } from "./request.ts";
import { payloadsOf, requireFilter } from "./subscription-match.ts";

type Methods = Pick<
  ServiceImpl<typeof TriggersService>,
  "listEvents" | "pollEvents" | "getEvent" | "listIngestEndpoints"
>;

/** Returns the methods ListEvents, PollEvents, GetEvent and ListIngestEndpoints. */
export function eventMethods({ db, catalog, views, sealer, secretOf, polls }: TriggersContext): Methods {
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
        return { events: rows.map((row) => eventMessage(row, counts.get(row.id))) };
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
      const { projectId, binding } = requireProject(ctx);
      const row = await eventsForProject(db, projectId).find(requireId("evt", "id", req.id));
      if (row === undefined || !isRowInScope(row, binding)) throw triggerFaults.EVENT_NOT_FOUND("id", req.id);
      return { event: eventMessage(row) };
    },

    listIngestEndpoints() {
      const endpoints = [...catalog.toolkits.values()].flatMap(({ slug, webhook, triggers }) => {
        if (webhook === undefined) return [];
        return [ingestEndpointMessage({ slug, webhook, trigger: triggers[0] }, secretOf)];
      });
      return { endpoints };
    },
  };
}

/** Default and maximum number of events that a poll returns. */
const pollSizes = { fallback: 100, max: 1_000 };

/** Returns how long a poll may wait, in milliseconds. It is answered a second before the caller's own timeout. */
function waitOf(waitMs: number, { timeoutMs }: HandlerContext): number {
  return Math.min(waitMs, heldMsMax, Math.max(0, (timeoutMs() ?? Number.POSITIVE_INFINITY) - 1_000));
}

/** Returns an ingest endpoint in the form of the API. Its sample does not depend on the time of the call. */
function ingestEndpointMessage(
  { slug, webhook, trigger }: { slug: string; webhook: Webhook; trigger: Trigger | undefined },
  secretOf: TriggersContext["secretOf"],
): IngestEndpoint {
  const { scheme, secretEnv, header, prefix, encoding, parameter, methods } = webhook;
  // Clients that only know the first version of the signature schemes read these fields. So each field has a value only for the schemes
  // that its comment in the API names.
  const signing = scheme === "slack_v0" ? {} : { header, prefix, encoding, parameter };
  const base = {
    ...{ toolkitSlug: slug, path: `/webhooks/${slug}`, scheme, secretEnv, ...signing },
    secretSet: isSecretSet(webhook, secretOf),
    verifierJson: JSON.stringify(webhook.parameters),
    methods: [...methods],
    fault: faultOfWebhook(webhook, secretOf) ?? "",
  };
  if (trigger === undefined) return create(IngestEndpointSchema, base);
  const { headers, query, body } = trigger.sample(shownSampleMs);
  const bodyJson = body === undefined ? "" : JSON.stringify(body);
  return create(IngestEndpointSchema, { ...base, sample: { triggerSlug: trigger.slug, headers, query, bodyJson } });
}
