export { timestampDate, timestampFromDate } from "@bufbuild/protobuf/wkt";
export { Code, ConnectError, type Interceptor } from "@connectrpc/connect";
export type { ApiKey, Project, ProjectPolicy, QuarantinedPost, QuarantineRelease } from "@svc/gen/admin";
export {
  type AccountVariableSpec,
  type ImportReport,
  type Tool,
  ToolKind,
  type Toolkit,
  type ToolkitAuthSchemeSpec,
  ToolkitConnectability,
  type ToolkitConnectSpec,
} from "@svc/gen/catalog";
export type { BasicCredential, ConnectedAccount } from "@svc/gen/connections";
export { type Failure, Remedy } from "@svc/gen/failures";
export {
  type Ask,
  type AskDecision,
  type AskEndpoint,
  type AskHopSpec,
  AskState,
  type Job,
  type JobEvent,
  JobStatus,
  type Receipt,
  type StepReceipt,
} from "@svc/gen/jobs";
export { Role } from "@svc/gen/options";
export {
  type Backfill,
  BackfillState,
  type PollState,
  type StandingProgram,
  type StandingRun,
  StandingRunState,
  StandingState,
} from "@svc/gen/standing";
export { type GetBacklogResponse, type Notice, NoticeKind, type QuerySeriesResponse, Series } from "@svc/gen/stats";
export type { ArgumentFault, CallToolResponse, FoundTool, ToolCall, ToolRequest } from "@svc/gen/tools";
export {
  type Delivery,
  type DeliveryAttempt,
  type Event,
  EventDocumentFormat,
  type EventToPublish,
  type EventType,
  type IngestEndpoint,
  type PollEventsResponse,
  type PortalLink,
  type PortalSettings,
  PublishOutcome,
  type PublishResult,
  type Replay,
  ReplayState,
  type Subscription,
  UnknownEventTypes,
} from "@svc/gen/triggers";
export {
  createSvcAdminClient,
  createSvcClient,
  type SvcAdminClient,
  type SvcAdminClientOptions,
  type SvcClient,
  type SvcClientOptions,
} from "./client.ts";
export type { AskDeliveryBody, DeliveryBody, EventDeliveryBody, TestDeliveryBody } from "./delivery-body.ts";
export type { DeliveryHeaders } from "./delivery-headers.ts";
export { DeliveryVerificationError, type DeliveryVerificationReason } from "./delivery-verification-error.ts";
export { schemaOf } from "./json.ts";
export { type PollEventsOptions, pollEvents } from "./poll-events.ts";
export {
  type AnyTools,
  SvcToolError,
  type ToolCallOptions,
  type ToolFailure,
  type ToolsClient,
  type ToolTypes,
} from "./tool-call.ts";
export { type ConnectionOptions, type SvcErrorDetail, svcErrorDetails } from "./transport.ts";
export { type VerifiedDelivery, type VerifyDeliveryOptions, verifyDelivery } from "./verify-delivery.ts";
