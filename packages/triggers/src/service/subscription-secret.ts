import { type Duration, durationMs } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import { generateSigningSecret, readSigningSecret, requireId, requireProject, type Sealer } from "@svc/core";
import type { Subscription } from "@svc/db/subscriptions/repo";
import { formerSecretContext, signingSecretContext } from "@svc/delivery";
import type { TriggersService } from "@svc/gen/triggers";
import { subscriptionMessage } from "../convert.ts";
import { triggerFaults } from "../errors.ts";
import type { TriggersContext } from "./context.ts";
import { subscriptionsOf } from "./portal-scope.ts";

const dayMs = 86_400_000;
/** Time in milliseconds for which deliveries are signed with both the new and the former secret: default and maximum. */
const overlap = { defaultMs: dayMs, maxMs: 7 * dayMs };

/** Returns the method RotateSubscriptionSecret. */
export function secretMethods({
  db,
  clock,
  sealer,
}: TriggersContext): Pick<ServiceImpl<typeof TriggersService>, "rotateSubscriptionSecret"> {
  return {
    async rotateSubscriptionSecret(req, ctx) {
      const caller = requireProject(ctx);
      const id = requireId("sub", "id", req.id);
      const overlapMs = readOverlap(req.overlap);
      if (req.secret !== "" && readSigningSecret(req.secret) === undefined)
        throw triggerFaults.SIGNING_SECRET_INVALID();
      const signingSecret = req.secret || generateSigningSecret();
      const nowMs = clock.now();
      const row = await subscriptionsOf(db, caller).update(id, (known) => {
        if (known.keyId !== null)
          throw triggerFaults.SUBSCRIPTION_OF_AGENT("id", id, "its agent sends the secret when it subscribes");
        const secrets = secretsAfter(sealer, known, signingSecret, nowMs + overlapMs);
        return overlapMs === 0 ? { ...secrets, formerSecret: null, formerUntil: null } : secrets;
      });
      if (row === undefined) throw triggerFaults.SUBSCRIPTION_NOT_FOUND("id", req.id);
      return { signingSecret, subscription: subscriptionMessage(row, nowMs) };
    },
  };
}

/**
 * Returns the time in milliseconds for which the old signing secret stays valid after a rotation. Throws ROTATION_OVERLAP_INVALID if the
 * time is negative or too long.
 */
export function readOverlap(given: Duration | undefined): number {
  if (given === undefined) return overlap.defaultMs;
  const ms = durationMs(given);
  if (ms < 0 || ms > overlap.maxMs) throw triggerFaults.ROTATION_OVERLAP_INVALID(`${ms / 1_000}s`);
  return ms;
}

/**
 * Returns the columns with the signing secrets of a subscription after its secret is changed to `secret`. The previous secret is kept, so
 * that deliveries are signed with both secrets until `formerUntil`. If `secret` equals the previous secret, the columns stay as they are.
 */
export function secretsAfter(
  sealer: Sealer,
  known: Subscription,
  secret: string,
  formerUntil: number,
): Pick<Subscription, "signingSecret" | "formerSecret" | "formerUntil"> {
  const { id, projectId, signingSecret } = known;
  const present = sealer.open(signingSecret, signingSecretContext(projectId, id)).toString("utf8");
  if (present === secret) return { signingSecret, formerSecret: known.formerSecret, formerUntil: known.formerUntil };
  return {
    signingSecret: sealer.seal(Buffer.from(secret, "utf8"), signingSecretContext(projectId, id)),
    formerSecret: sealer.seal(Buffer.from(present, "utf8"), formerSecretContext(projectId, id)),
    formerUntil,
  };
}
