import { batches, type Clock, generateToken, type Sweep } from "@svc/core";
import type { Executor } from "@svc/db/connect";
import type { Subscription } from "@svc/db/subscriptions/repo";
import { deleteEndedSubscriptions, findEndedSubscriptions } from "@svc/db/subscriptions/sweep";
import type { Dispatcher } from "@svc/delivery";
import { accessRevoked } from "./errors.ts";

/** Dependencies of the sweep (regular task) that removes ended subscriptions of agents. */
export type AgentSubscriptionSweepOptions = {
  readonly db: Executor;
  readonly clock: Clock;
  readonly dispatcher: Pick<Dispatcher, "endpoints" | "tell" | "expire">;
};

const everyMs = 20_000;
const batchMax = 100;
/** Maximum time in milliseconds for a callback to answer the notice that its subscription has ended. */
const tellMs = 5_000;

/**
 * Returns the sweep (regular task) that removes agents' subscriptions that were not refreshed in time, and those whose key or grant (a
 * person's permission for an agent) has ended. In the second case, it also notifies the subscription's callback address.
 */
export function agentSubscriptionSweep({ db, clock, dispatcher }: AgentSubscriptionSweepOptions): Sweep {
  const removeBatch = async () => {
    const nowMs = clock.now();
    const found = await findEndedSubscriptions(db, nowMs, batchMax);
    if (found.length === 0) return 0;
    const gone = await deleteEndedSubscriptions(db, found, nowMs);
    await Promise.all(gone.map((one) => tellOfEnd(dispatcher, one)));
    for (const { id } of gone) await dispatcher.expire(id);
    return found.length;
  };
  return {
    what: "subscriptions of agents",
    everyMs,
    round: () => batches(batchMax, removeBatch),
  };
}

/**
 * Notifies an agent's receiver once that its subscription has ended, because its access was revoked. Ignores the answer. If a subscription
 * ended because the agent did not renew it, no notice is sent: the agent knows the end.
 */
async function tellOfEnd(dispatcher: AgentSubscriptionSweepOptions["dispatcher"], ended: Subscription): Promise<void> {
  if (ended.inactiveReason !== "revoked") return;
  const endpoint = dispatcher.endpoints.of(ended);
  // `endpoint` is undefined if the subscription's secret cannot be decrypted. The notice could then not be signed, so it is not sent.
  if (endpoint === undefined) return;
  const body = JSON.stringify({ type: "terminated", error: accessRevoked() });
  await dispatcher.tell(endpoint, { id: `msg_terminated_${generateToken()}`, body }, tellMs);
}
