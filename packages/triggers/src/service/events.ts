import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { shownSampleMs, type Trigger, type Webhook } from "@svc/catalog";
import { byId, checkFilterText, isRowInScope, projectList, requireId, requireProject, timeRange } from "@svc/core";
import { countDeliveriesOfEvents } from "@svc/db/deliveries/read";
import { eventsForProject } from "@svc/db/events/repo";
import { type IngestEndpoint, IngestEndpointSchema, type TriggersService } from "@svc/gen/triggers";
import { eventMessage } from "../convert.ts";
import { triggerFaults } from "../errors.ts";
import { faultOfWebhook, isSecretSet } from "../verify.ts";
import type { TriggersContext } from "./context.ts";
import { triggerSlugOf } from "./request.ts";

type Methods = Pick<ServiceImpl<typeof TriggersService>, "listEvents" | "getEvent" | "listIngestEndpoints">;

/** Returns the methods ListEvents, GetEvent and ListIngestEndpoints. */
export function eventMethods({ db, catalog, sealer, secretOf }: TriggersContext): Methods {
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

/** Returns an ingest endpoint in the form of the API. Its sample does not depend on the time of the call. */
function ingestEndpointMessage(
  { slug, webhook, trigger }: { slug: string; webhook: Webhook; trigger: Trigger | undefined },
  secretOf: TriggersContext["secretOf"],
): IngestEndpoint {
  const { scheme, secretEnv, header, prefix, encoding, parameter, methods } = webhook;
  // Clients that know only the first form of the schemes read these fields. So each has a value only for the scheme of its comment.
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
