export { defaultRetryScheduleMs } from "./conclude.ts";
export { type EndpointAuth, type EndpointCredentials, sealCredentials } from "./credentials.ts";
export { type DescribedForm, describeForm, type FormDescription } from "./described-form.ts";
export { createDispatcher } from "./dispatch.ts";
export type { Dispatcher, DispatcherOptions } from "./dispatcher.ts";
export {
  createAgentEndpoint,
  type Endpoint,
  type EndpointCache,
  type EndpointSource,
  formerSecretContext,
  signingSecretContext,
} from "./endpoint.ts";
export type { DispatchLimits } from "./limits.ts";
export type { AttemptObservation, DeliveryObserver, EndpointAuthOutcome } from "./observer.ts";
export {
  type BodyRenderer,
  type DeliveredEvent,
  deliveryBody,
  type OutgoingDelivery,
  occurrenceText,
  outgoingOf,
} from "./outgoing.ts";
export { type EventSweepOptions, eventSweep } from "./retention.ts";
export type { Attempt } from "./send.ts";
export { previewedRequest } from "./sender.ts";
