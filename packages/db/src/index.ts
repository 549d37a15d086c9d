export {
  type AccountReference,
  deleteAccountReferences,
  findAccountReferences,
  holdDeploymentRouting,
  holdProjectRouting,
  putAccountReferences,
  readDeploymentRouting,
} from "./accounts/repo.ts";
export {
  beginKeyedCalls,
  doubtRunningCall,
  findKeyHolders,
  type KeyHolder,
  releaseIdempotencyKey,
} from "./calls/keyed.ts";
export { type CallRecord, putToolCalls } from "./calls/put.ts";
export {
  doubtRunningCalls,
  sweepToolCalls,
  type ToolCallFilter,
  type ToolCallRepository,
  type ToolCallRow,
  type ToolCallSummary,
  toolCallsForProject,
} from "./calls/repo.ts";
export {
  type PrivateToolkit,
  type PrivateToolkitRepository,
  privateToolkitsForProject,
} from "./catalog/repo.ts";
export { type Database, type DatabaseOptions, type Executor, openDatabase, withTransaction } from "./connect.ts";
export { type Activation, type ActivationOptions, activateAccount } from "./connections/activate.ts";
export { type CallableAccountRow, findActiveAccounts, findCallableAccount } from "./connections/find-callable.ts";
export { setAccountReferences } from "./connections/references.ts";
export {
  type AccountKey,
  claimRefresh,
  expireAccount,
  listDueRefreshes,
  type RefreshLease,
  type RefreshOutcome,
  settleRefresh,
} from "./connections/refresh.ts";
export {
  type AccountDefinition,
  type ConnectedAccount,
  type ConnectedAccountFilter,
  type ConnectedAccountRepository,
  connectedAccountsForProject,
} from "./connections/repo.ts";
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
  type AskFilter,
  type AskReached,
  type AskRecord,
  type AskRepository,
  addAskEvent,
  asksForProject,
  countRefusalEvents,
  countRefusedAnswer,
  type EventDeliveries,
  exhaustAsk,
  findAsk,
  findPendingAsk,
  insertAsk,
  type LockedJob,
  listJobAsks,
  lockJobOfAsk,
  type NewAsk,
  noteAskReached,
  passAskOn,
  readEventDeliveries,
  readLoggedAskDeliveries,
  readTwinReceipts,
  settleAsk,
} from "./jobs/asks.ts";
export { requestJobCancel } from "./jobs/cancel.ts";
export {
  type CommitOptions,
  commitRun,
  type DrivenJob,
  type JobSetRowChange,
  type JobUndoChange,
  type NewJobRow,
  type NewJobUndoEntry,
  type RunChange,
  type RunCommit,
  type RunLease,
} from "./jobs/commit.ts";
export { type Contact, type ContactRepository, contactsForProject } from "./jobs/contacts.ts";
export { findKeyedJob, insertJobs, type KeyedJob, type NewJob } from "./jobs/insert.ts";
export {
  appendJobEvents,
  findJobTwin,
  type JobProgramRecord,
  type JobSetRow,
  type JobUndoEntry,
  type JobWithSteps,
  loadJob,
  loadJobProgram,
  loadJobSteps,
  loadJobsWithSteps,
  nextJobUndoEntries,
  readJobSetRows,
  setJobRowStates,
} from "./jobs/load.ts";
export type {
  JobEventRecord,
  JobRecord,
  JobStepRecord,
  JobTaskKind,
  NewJobEvent,
  NewJobTask,
} from "./jobs/record.ts";
export { type JobFilter, type JobRepository, jobsForProject, type ListedJob } from "./jobs/repo.ts";
export { sweepJobRows } from "./jobs/sweep.ts";
export {
  type ClaimedJobTask,
  claimJobTasks,
  deleteJobTasks,
  endJobTask,
  holdJobTask,
  type JobClaimRequest,
  type JobTaskLease,
  leaseRunTask,
  lockJob,
  moveJobTask,
  putJobTasks,
  releaseJobTasks,
  renewJobLeases,
  takeRunTask,
} from "./jobs/tasks.ts";
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
export type { ConnectedAccountState } from "./schema/connections.ts";
export type { AttemptEntry } from "./schema/index.ts";
export { type ListedSkill, type Skill, type SkillRepository, skillsForProject } from "./skills/repo.ts";
export { type AskEndpointRepository, askEndpointsForProject } from "./subscriptions/ask-endpoints.ts";
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
