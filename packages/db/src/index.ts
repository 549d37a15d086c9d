export {
  type AccountReference,
  deleteAccountReferences,
  findAccountReferences,
  holdDeploymentRouting,
  holdProjectRouting,
  putAccountReferences,
  readDeploymentRouting,
} from "./accounts/repo.ts";
export { type Database, type DatabaseOptions, type Executor, openDatabase, withTransaction } from "./connect.ts";
export { readDatabaseTime } from "./database-time.ts";
export { countPendingDeliveries } from "./deliveries/backlog.ts";
export { type ClaimedDelivery, type ClaimRequest, type ClaimResult, claim } from "./deliveries/claim.ts";
export { enqueue, type QueuedDelivery } from "./deliveries/enqueue.ts";
export { expire } from "./deliveries/expire.ts";
export { release } from "./deliveries/release.ts";
export { type Delivery, type DeliveryRepository, deliveriesForProject } from "./deliveries/repo.ts";
export { type Settlement, settle, type TaskKey } from "./deliveries/settle.ts";
export { isUnavailable, isUniqueViolation } from "./driver-error.ts";
export { EmbeddedPostgresError } from "./embedded/errors.ts";
export { type EmbeddedPostgres, type EmbeddedPostgresOptions, startEmbeddedPostgres } from "./embedded/postgres.ts";
export { type NewDelivery, type NewEvent, type RecordOutcome, type RoutingSeen, record } from "./events/record.ts";
export {
  type Event,
  type EventFilter,
  type EventRepository,
  eventsForProject,
  uuidAfterEvent,
  uuidOfEvent,
} from "./events/repo.ts";
export {
  type ApiKey,
  createApiKey,
  ensureApiKey,
  findApiKeyByDigest,
  listApiKeys,
  revokeApiKey,
  touchApiKeys,
} from "./keys/repo.ts";
export { MigrationRefusedError, migrateDatabase } from "./migrate.ts";
export {
  createProject,
  findProject,
  findProjectByName,
  listProjects,
  type Project,
  type ProjectPolicy,
  setProjectPolicy,
} from "./projects/repo.ts";
export { ensureVaultCheck } from "./projects/vault-check.ts";
export { findQuarantinedIds, listHeldPosts, type ReleaseFilter } from "./quarantine/held.ts";
export {
  findQuarantinedPost,
  listQuarantinedPosts,
  markReleased,
  noteQuarantine,
  putQuarantinedPosts,
  type QuarantinedPost,
  type QuarantineFilter,
} from "./quarantine/repo.ts";
export { type EventRetention, sweepProjectEvents, sweepQuarantinedPosts } from "./retention/sweep.ts";
export type { AttemptEntry } from "./schema/index.ts";
export {
  type FailureReport,
  type Health,
  type HealthLimits,
  reportFailures,
  reportRecoveries,
} from "./subscriptions/health.ts";
export {
  type NewSubscription,
  type Subscription,
  type SubscriptionChange,
  type SubscriptionRepository,
  subscriptionsForProject,
} from "./subscriptions/repo.ts";
export {
  countMatchesOf,
  findMatches,
  type Match,
  type MatchFilter,
  type ProjectRouting,
  type RoutedSubscription,
  readProjectRouting,
} from "./subscriptions/routing.ts";
export { isWritable } from "./writable.ts";
