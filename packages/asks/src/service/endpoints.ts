import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import {
  byId,
  checkEndpointUrl,
  createId,
  generateSigningSecret,
  idOfUuid,
  projectList,
  requireId,
  requireProject,
  uuidOfId,
} from "@svc/core";
import { withTransaction } from "@svc/db/connect";
import { expireDeliveries } from "@svc/db/deliveries/expire";
import { type AskEndpointEventType, askEndpointEventTypes } from "@svc/db/schema/words";
import { askEndpointsForProject } from "@svc/db/subscriptions/ask-endpoints";
import type { Subscription } from "@svc/db/subscriptions/repo";
import { signingSecretContext } from "@svc/delivery";
import { type AskEndpoint, AskEndpointSchema, type JobsService } from "@svc/gen/jobs";
import type { AskContext } from "../context.ts";
import { askFaults } from "../errors.ts";

type Methods = Pick<ServiceImpl<typeof JobsService>, "createAskEndpoint" | "listAskEndpoints" | "deleteAskEndpoint">;

/**
 * An ask endpoint is a URL that receives questions to people. When it is deleted, its pending deliveries end: at most this many in the same
 * transaction, and the rest in batches afterwards.
 */
const expireMax = 20_000;

/**
 * Returns the methods CreateAskEndpoint, ListAskEndpoints and DeleteAskEndpoint. An ask endpoint (a URL that receives the questions of
 * jobs) is stored as a subscription. Only the prefix of its id in the API differs from that of a subscription.
 */
export function askEndpointMethods(context: AskContext): Methods {
  const { db, clock, sealer, guard, dispatcher } = context;
  return {
    async createAskEndpoint(req, ctx) {
      const { projectId } = requireProject(ctx);
      const endpointUrl = checkEndpointUrl(guard, req.endpointUrl);
      const eventTypes = eventTypesOf(req.eventTypes);
      const createdAt = clock.now();
      const id = createId("sub", createdAt);
      const secret = generateSigningSecret();
      const signingSecret = sealer.seal(Buffer.from(secret, "utf8"), signingSecretContext(projectId, id));
      const endpoint = { id, endpointUrl, signingSecret, createdAt, eventTypes };
      const row = await askEndpointsForProject(db, projectId).create(endpoint);
      return { askEndpoint: askEndpointMessage(row), signingSecret: secret };
    },

    listAskEndpoints: projectList(sealer, {
      call: "ListAskEndpoints",
      order: byId("sub"),
      rows: ({ page, caller: { projectId } }) => askEndpointsForProject(db, projectId).list(page),
      answer: (rows) => ({ askEndpoints: rows.map(askEndpointMessage) }),
    }),

    async deleteAskEndpoint(req, ctx) {
      const { projectId } = requireProject(ctx);
      const id = idOfUuid("sub", uuidOfId(requireId("aep", "id", req.id)));
      const isDeleted = await withTransaction(db, async (tx) => {
        const deleted = await askEndpointsForProject(tx, projectId).delete(id);
        if (deleted) await expireDeliveries(tx, id, clock.now(), expireMax);
        return deleted;
      });
      if (!isDeleted) throw askFaults.ASK_ENDPOINT_NOT_FOUND(req.id);
      await dispatcher.expire(id);
      return {};
    },
  };
}

/**
 * Returns the event types with the given names, to which an ask endpoint (a URL that receives questions of jobs) subscribes. Throws
 * EVENT_TYPE_UNKNOWN if a name is unknown.
 */
function eventTypesOf(names: readonly string[]): AskEndpointEventType[] {
  const types = names.map((name, index) => {
    const known = askEndpointEventTypes.find((type) => type === name);
    if (known === undefined) throw askFaults.EVENT_TYPE_UNKNOWN(index, name);
    return known;
  });
  return [...new Set(types)];
}

/** Returns an ask endpoint (a URL that receives questions to people) as a message of the API, without its secret. */
function askEndpointMessage(row: Subscription): AskEndpoint {
  return create(AskEndpointSchema, {
    id: idOfUuid("aep", uuidOfId(row.id)),
    endpointUrl: row.endpointUrl,
    active: row.active,
    inactiveReason: row.inactiveReason,
    eventTypes: row.eventTypes,
    createdAt: timestampFromMs(row.createdAt),
  });
}
