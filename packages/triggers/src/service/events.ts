import type { ServiceImpl } from "@connectrpc/connect";
import {
  type Binding,
  checkFilterText,
  isEntityGranted,
  isToolkitGranted,
  pageOf,
  requireId,
  requireProject,
  timeRange,
  walkedRows,
} from "@svc/core";
import { countDeliveriesOfEvents, type Event, eventsForProject } from "@svc/db";
import type { TriggersService } from "@svc/gen/triggers";
import { eventMessage, ingestEndpointMessage } from "../convert.ts";
import { triggerFaults } from "../errors.ts";
import { secretsOf } from "../verify.ts";
import type { TriggersContext } from "./context.ts";
import { triggerSlugOf } from "./request.ts";

type Methods = Pick<ServiceImpl<typeof TriggersService>, "listEvents" | "getEvent" | "listIngestEndpoints">;

/** ListEvents, GetEvent, ListIngestEndpoints. */
export function eventMethods({ db, catalog, sealer, secretOf }: TriggersContext): Methods {
  return {
    async listEvents(req, ctx) {
      const { projectId, binding } = requireProject(ctx);
      const own = binding?.entityId ?? "";
      if (own !== "" && req.entityId !== "" && req.entityId !== own) return { events: [], nextPageToken: "" };
      const filter = {
        toolkitSlug: req.toolkitSlug,
        triggerSlug: triggerSlugOf(req.toolkitSlug, req.triggerSlug),
        entityId: own === "" ? req.entityId : own,
        payloadContains: checkFilterText("payloadContains", req.payloadContains),
        ...timeRange(req.since, req.until),
      };
      const scope = { call: "ListEvents", projectId, filters: filter };
      const page = pageOf(sealer, scope, req, "evt");
      const events = eventsForProject(db, projectId);
      const isWalk = filter.entityId !== "" || filter.payloadContains !== "";
      const found = isWalk
        ? await events.walk(filter, page)
        : { rows: await events.list(filter, page), walkedTo: undefined };
      const { rows, nextPageToken } = walkedRows(sealer, scope, found, page.size);
      const reached = rows.filter((row) => isEventReached(row, binding));
      const ids = req.withDeliveries ? reached.map(({ id }) => id) : [];
      const counts = await countDeliveriesOfEvents(db, projectId, ids);
      return { events: reached.map((row) => eventMessage(row, counts.get(row.id))), nextPageToken };
    },

    async getEvent(req, ctx) {
      const { projectId, binding } = requireProject(ctx);
      const row = await eventsForProject(db, projectId).find(requireId("evt", "id", req.id));
      if (row === undefined || !isEventReached(row, binding)) throw triggerFaults.EVENT_NOT_FOUND("id", req.id);
      return { event: eventMessage(row) };
    },

    listIngestEndpoints() {
      const endpoints = [...catalog.toolkits.values()].flatMap(({ slug, webhook, triggers }) => {
        if (webhook === undefined) return [];
        const secretSet = secretsOf(secretOf(webhook.secretEnv)).length > 0;
        return [ingestEndpointMessage({ slug, webhook, trigger: triggers[0] }, secretSet)];
      });
      return { endpoints };
    },
  };
}

/** Whether an event is the entity's, and of a toolkit, that whoever is bound so reaches. */
function isEventReached(
  { entityId, toolkitSlug }: Pick<Event, "entityId" | "toolkitSlug">,
  binding: Binding | undefined,
): boolean {
  return isEntityGranted(binding, entityId) && isToolkitGranted(binding, toolkitSlug);
}
