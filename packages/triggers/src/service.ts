import type { ServiceImpl } from "@connectrpc/connect";
import type { TriggersService } from "@svc/gen/triggers";
import type { TriggersContext } from "./service/context.ts";
import { deliveryMethods } from "./service/deliveries.ts";
import { eventTypeMethods } from "./service/event-types.ts";
import { eventMethods } from "./service/events.ts";
import { createScanCount } from "./service/portal-limits.ts";
import { portalLinkMethods } from "./service/portal-links.ts";
import { previewMethods } from "./service/preview.ts";
import { publishMethods } from "./service/publish.ts";
import { quarantineMethods } from "./service/quarantine.ts";
import { replayMethods } from "./service/replays.ts";
import { secretMethods } from "./service/subscription-secret.ts";
import { subscriptionMethods } from "./service/subscriptions.ts";
import { webhookSecretMethods } from "./service/webhook-secrets.ts";

/** Returns the implementation of TriggersService over one database. Every method works on the project of the calling key. */
export function createTriggersService(context: TriggersContext): ServiceImpl<typeof TriggersService> {
  const countScan = createScanCount(context.clock);
  return {
    ...subscriptionMethods(context),
    ...secretMethods(context),
    ...previewMethods(context, countScan),
    ...eventMethods(context),
    ...deliveryMethods(context),
    ...replayMethods(context, countScan),
    ...publishMethods(context),
    ...eventTypeMethods(context),
    ...webhookSecretMethods(context),
    ...quarantineMethods(context),
    ...portalLinkMethods(context),
  };
}
