export type {
  AdmittedPost,
  Greeting,
  NoHandshake,
  PostAdmission,
  PostHead,
  PrivatePostHead,
} from "./admit-posts.ts";
export { createEventsOffer } from "./agents/offer.ts";
export { type AgentSubscriptionSweepOptions, agentSubscriptionSweep } from "./agents/retention.ts";
export { eventMessage, healthMessage, quarantinedPostMessage } from "./convert.ts";
export { quarantineFaults, triggerFaults } from "./errors.ts";
export { createBodyRenderer } from "./filters/bodies.ts";
export { createFilters, type FilterObservation, type Filters } from "./filters/filters.ts";
export { createIngest, type Ingest, type IngestOptions } from "./ingest.ts";
export type { InboundPost, IngestOutcome } from "./outcome.ts";
export { operationalToolkit, readEventToolkits } from "./own/toolkit.ts";
export { warningSweep } from "./own/warnings.ts";
export { createEventPolls, type EventPollObservation } from "./polls/polls.ts";
export type { PostLoad, PostQuotas } from "./post-quotas.ts";
export { createPrivateWebhooks, webhookToolkit } from "./private-webhooks.ts";
export {
  createQuarantine,
  type OpenedPost,
  type Quarantine,
  type QuarantineOptions,
  type ReleaseResult,
} from "./quarantine.ts";
export { type QuarantineSealOptions, quarantineSealSweep } from "./quarantine-seal.ts";
export { createReplayEngine, type ReplayEngine, type ReplayEngineOptions } from "./replays/engine.ts";
export type { ReplayObserver, ReplayStep } from "./replays/observer.ts";
export { type ReplaySweepOptions, replaySweep } from "./replays/retention.ts";
export type { ReplayFaultPoint } from "./replays/step.ts";
export { createRouting, type Routing } from "./routing.ts";
export type { TriggersContext } from "./service/context.ts";
export { replayEvent } from "./service/deliveries.ts";
export { imageTypeOf } from "./service/portal-look.ts";
export { releasePosts } from "./service/release.ts";
export { countOtherReceivers, storeSampleEvent, subscribeInbox } from "./service/sample-event.ts";
export { createTriggersService } from "./service.ts";
export type { StoreOptions } from "./store.ts";
export { faultOfWebhook } from "./verify.ts";
export { webhookSecretSweep } from "./webhook-secret-sweep.ts";
