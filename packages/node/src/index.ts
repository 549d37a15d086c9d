// Types that other packages need if they build on a node. For example, packages/server writes log lines and metrics from the observations.
export type { AskObservation, AskObserver } from "@svc/asks";
export type { SourceReading } from "@svc/catalog";
export {
  clientDocument,
  clientDocumentsPath,
  deploymentSecretNames,
  type EnterConsent,
  isDeploymentSecretName,
  isDeploymentSecretValue,
  type OauthAnswer,
  type OauthPages,
  type RenewalObservation,
  type RenewalObserver,
  type UpstreamRequest,
} from "@svc/connections";
export type { AttemptObservation, DeliveryObserver, EndpointAuthOutcome } from "@svc/delivery";
export { type EndedJob, type EngineObserver, type ParkedJob, titleOfListed } from "@svc/jobs";
export { programSchema } from "@svc/program";
export { inboxBodyBytesMax, inboxPrefix, type Sandbox, sandboxAuthorizePath } from "@svc/sandbox";
export { type DecidedRun, type StandingObserver, standingSchema } from "@svc/standing";
export {
  type CallObservation,
  type CallObserver,
  type EmbeddingsCall,
  type EmbeddingsObserver,
  type EmbeddingsTarget,
  type EnterAction,
  type McpHeaders,
  type McpServer,
  remedyMessage,
  type SearchOutcome,
  spokenFault,
} from "@svc/tools";
export {
  type AdmittedPost,
  type EventPollObservation,
  eventMessage,
  type FilterObservation,
  faultOfWebhook,
  type Greeting,
  healthMessage,
  type InboundPost,
  type IngestOutcome,
  imageTypeOf,
  type OpenedPost,
  type PostAdmission,
  type PostHead,
  type PostLoad,
  type PostQuotas,
  type PrivatePostHead,
  type Quarantine,
  quarantinedPostMessage,
  quarantineFaults,
  type ReplayFaultPoint,
  type ReplayObserver,
  type ReplayStep,
  releasePosts,
} from "@svc/triggers";
export { consoleSessionIdleMs } from "./console-sweep.ts";
export { createNode, type Node } from "./node.ts";
export type { NodeObserver } from "./observer.ts";
export { type Explain, engineNames, type NodeLimits, type NodeParts } from "./parts.ts";
