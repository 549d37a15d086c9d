import { requireId } from "@svc/core";
import { type AgentTool, answered } from "@svc/tools";
import { replayEvent } from "@svc/triggers";
import { requireDelivery } from "./explain-delivery.ts";
import { isOnlyProject, type OperatorContext, sends, textsSchema } from "./parts.ts";

/** Sends the event of a delivery again, to the same subscription, as a fresh delivery. */
export function createRetryDeliveryTool(context: OperatorContext): AgentTool {
  return {
    group: "repair",
    listed: {
      name: "retry_delivery",
      title: "Send a delivery again",
      description:
        "Sends the event of a delivery once more to the same subscription, as a new delivery. Whoever receives it knows by the event's id that it is the same.",
      inputSchema: textsSchema({ delivery_id: "The delivery (dlv_...)." }, ["delivery_id"]),
      annotations: sends,
    },
    async answer({ delivery_id: text }, { principal, enter }) {
      const { eventId, subscriptionId } = await requireDelivery(context.db, principal, String(text));
      const deed = { action: "TriggersService.ReplayEvent", subject: eventId };
      const [fresh] = await enter(deed, () => replayEvent(context, principal, { eventId, subscriptionId }));
      if (fresh === undefined)
        return {
          texts: ["Nothing was sent: the subscription is not active, or takes such events no more."],
          structured: { queued: false },
          isError: true,
        };
      return answered(
        { queued: true, deliveryId: fresh.id },
        `${fresh.id} is queued; explain_delivery tells how it goes.`,
      );
    },
  };
}

/** Runs a post that was held back through the definitions as they are now, where all of them are this project's. */
export function createReleasePostTool(context: OperatorContext): AgentTool {
  const { quarantine } = context;
  return {
    group: "repair",
    listed: {
      name: "release_post",
      title: "Release a post",
      description:
        "Takes a post that was held back (where_is_event names them) as if it had just arrived: the events that come of it are stored and delivered. " +
        "Only where this project is the deployment's only one; elsewhere its administrator does it. " +
        "What fails again stays held back, and its new reason is told.",
      inputSchema: textsSchema({ post_id: "The post (qrn_...)." }, ["post_id"]),
      annotations: sends,
    },
    async answer({ post_id: text }, { principal, enter }) {
      const id = requireId("qrn", "post_id", String(text));
      if (!(await isOnlyProject(context, principal)))
        return {
          texts: [
            `Nothing was released: other projects of this deployment may be sent what ${id} has. Its administrator releases it: svc quarantine release ${id}`,
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
