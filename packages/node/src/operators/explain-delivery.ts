import { isoTime, type ProjectPrincipal, requireId } from "@svc/core";
import { type Delivery, deliveriesForProject } from "@svc/db/deliveries/repo";
import { type Subscription, subscriptionsForProject } from "@svc/db/subscriptions/repo";
import { type AgentTool, answered } from "@svc/tools";
import { triggerFaults } from "@svc/triggers";
import { type OperatorContext, reads, textsSchema } from "./parts.ts";

/** Attempts that are shown: the last ones. */
const attemptsMax = 5;

/** Tells why a delivery stands as it does: its attempts, its endpoint, and what comes next. */
export function createExplainDeliveryTool({ db }: OperatorContext): AgentTool {
  return {
    group: "operate",
    listed: {
      name: "explain_delivery",
      title: "Explain a delivery",
      description:
        "Tells why a delivery of where_is_event stands as it does: its last attempts with what the endpoint answered, the state of its subscription, and what happens next.",
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

/** A delivery of the caller's project. Throws ID_MALFORMED and DELIVERY_NOT_FOUND. */
export async function requireDelivery(
  db: OperatorContext["db"],
  { projectId }: ProjectPrincipal,
  text: string,
): Promise<Delivery> {
  const delivery = await deliveriesForProject(db, projectId).find(requireId("dlv", "delivery_id", text));
  if (delivery === undefined) throw triggerFaults.DELIVERY_NOT_FOUND("delivery_id", text);
  return delivery;
}

function nextText({ state, nextAttemptAt, lastError }: Delivery, subscription: Subscription | undefined): string {
  if (subscription === undefined) return "Its subscription is gone, and nothing is sent any more.";
  if (!subscription.active)
    return "Its subscription is not active: nothing is sent until it is, and this delivery is sent again by retry_delivery.";
  if (state === "delivered") return "The endpoint has taken it.";
  if (nextAttemptAt !== null) return `It is tried again at ${isoTime(nextAttemptAt)}.`;
  return `It was given up${lastError === "" ? "" : ` after ${lastError}`}. Once the endpoint is mended, retry_delivery sends it again.`;
}
