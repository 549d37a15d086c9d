export { findAccountReferences } from "./account-references/find.ts";
export { type AccountReference, putAccountReferences } from "./account-references/repo.ts";
export {
  backlogAges,
  backlogMax,
  countFailingEndpoints,
  countJobsByStatus,
  countWaitingForPeople,
  type PendingOfSubscription,
  readPendingBacklog,
} from "./activity/backlog.ts";
export {
  readNewOfProject,
  readOpenOfProject,
  readWatchedAgain,
  readWatchedEvents,
  type WatchedKind,
  type WatchedRow,
  watchedKinds,
} from "./activity/changes.ts";
export { type ActivityStep, queryActivity } from "./activity/query.ts";
export { sweepActivity } from "./activity/sweep.ts";
export { type ActivityCount, addActivityHours, addActivityMinutes } from "./activity/write.ts";
export { addAskEvent } from "./asks/add-event.ts";
export { countRefusedAnswer, countUnaskedAnswer } from "./asks/count-refused-answer.ts";
export { exhaustAsk } from "./asks/exhaust.ts";
export { isOneHand } from "./asks/is-one-hand.ts";
export { type LockedJob, lockJobOfAsk } from "./asks/lock-job.ts";
export { type AskReached, noteAskReached } from "./asks/note-reached.ts";
export { passAskOn } from "./asks/pass-on.ts";
export { readDuePublications } from "./asks/read-due-publications.ts";
export { readLoggedAskDeliveries } from "./asks/read-logged-deliveries.ts";
export {
  type AskFilter,
  type AskRecord,
  type AskRepository,
  asksForProject,
  findAsk,
  findPendingAsk,
  insertAsk,
  listJobAsks,
  type NewAsk,
} from "./asks/repo.ts";
export { settleAsk } from "./asks/settle.ts";
export { wasJobConfirmed } from "./asks/was-confirmed.ts";
export {
  type AuditChain,
  findAuditChainFrom,
  findAuditChains,
  findBrokenAuditChains,
  findChainedProjects,
  findSentEntities,
  hasUnplacedAuditEvents,
  listPlacedAuditEvents,
  listUnplacedAuditEvents,
  lockAuditChains,
  type PlacedAuditEvent,
  placeAuditEvents,
  putAuditChain,
} from "./audit/chains.ts";
export {
  type AuditEvent,
  deploymentProject,
  endAuditEvent,
  insertAuditEvent,
  type NewAuditEvent,
} from "./audit/events.ts";
export { type AuditFilter, listAuditEvents } from "./audit/list.ts";
export { findCallLimits } from "./call-limits/find.ts";
export { type PaceKey, type PaceRow, readCallPaces, writeCallPaces } from "./call-limits/paces.ts";
export { type CallLimitRepository, type CallLimitRow, callLimitsForProject } from "./call-limits/repo.ts";
export { sweepCallPaces } from "./call-limits/sweep.ts";
export { beginKeyedToolCalls } from "./calls/begin-keyed.ts";
export { doubtRunningToolCall, doubtRunningToolCalls, type LostCallSearch } from "./calls/doubt-running.ts";
export { findToolCallKeyHolders, type ToolCallKeyHolder } from "./calls/find-key-holders.ts";
export type { ToolCallFilter, ToolCallSummary } from "./calls/list-page.ts";
export type { WalkedCallFilter } from "./calls/list-walked.ts";
export { type CallRecord, putToolCalls } from "./calls/put.ts";
export { releaseToolCallKey } from "./calls/release-key.ts";
export { type ToolCallRepository, type ToolCallRow, toolCallsForProject } from "./calls/repo.ts";
export { sweepToolCalls } from "./calls/sweep.ts";
export {
  type PrivateToolkit,
  type PrivateToolkitRepository,
  privateToolkitsForProject,
} from "./catalog/repo.ts";
export {
  afterCommit,
  type Database,
  type DatabaseOptions,
  type Executor,
  openDatabase,
  withTransaction,
} from "./connect.ts";
export type { AccountDefinition, ConnectedAccount, ConnectedAccountFilter } from "./connections/account.ts";
export { type Activation, type ActivationOptions, activateAccount } from "./connections/activate.ts";
export { type CallableAccountRow, findActiveAccounts, findCallableAccount } from "./connections/find-callable.ts";
export { releaseAccountReferences, setAccountReferences } from "./connections/references.ts";
export {
  type AccountKey,
  type AccountRefreshLease,
  type AccountRefreshOutcome,
  claimAccountRefresh,
  expireAccount,
  listDueAccountRefreshes,
  noteCredentialTry,
  settleAccountRefresh,
} from "./connections/refresh.ts";
export { type ConnectedAccountRepository, connectedAccountsForProject } from "./connections/repo.ts";
export {
  type ConsoleLink,
  findConsoleLink,
  restoreConsoleLink,
  retargetConsoleLink,
  spendConsoleLink,
  sweepConsoleLinks,
} from "./console/links.ts";
export { makeConsoleLink } from "./console/make-link.ts";
export {
  type ConsoleSession,
  endAdministratorSeat,
  endConsoleSeat,
  endConsoleSession,
  findConsoleSession,
  insertConsoleSession,
  type ListedConsoleSession,
  listConsoleSessions,
  seatAdministrator,
  seatKey,
  sweepConsoleSessions,
  touchConsoleSession,
} from "./console/sessions.ts";
export { type Contact, type ContactRepository, contactsForProject, type NewContact } from "./contacts/repo.ts";
export { readDatabaseTime } from "./database-time.ts";
export { countPendingDeliveries } from "./deliveries/backlog.ts";
export {
  type ClaimedDelivery,
  claimDeliveries,
  type DeliveryClaim,
  type DeliveryClaimRequest,
} from "./deliveries/claim.ts";
export { countDeliveriesOfEvents, type DeliveryCounts } from "./deliveries/count-of-events.ts";
export { enqueueDeliveries, type QueuedDelivery, type QueueTo } from "./deliveries/enqueue.ts";
export { expireDeliveries } from "./deliveries/expire.ts";
export {
  type DeliveryEndpoint,
  type EndpointTimes,
  findDeliveryEndpoints,
  readEndpointTimes,
} from "./deliveries/read-endpoint-times.ts";
export { type EventDeliveries, readEventDeliveries } from "./deliveries/read-event-deliveries.ts";
export { releaseDeliveries } from "./deliveries/release.ts";
export {
  type Delivery,
  type DeliveryFilter,
  type DeliveryRepository,
  deliveriesForProject,
} from "./deliveries/repo.ts";
export { type DeliverySettlement, settleDeliveries } from "./deliveries/settle.ts";
export { countSuperseded } from "./deliveries/superseded.ts";
export type { DeliveryTaskKey } from "./deliveries/task-key.ts";
export { tryDeliveriesNow } from "./deliveries/try-now.ts";
export type { EscalationHopDocument } from "./documents/ask.ts";
export type { AttemptEntry } from "./documents/attempt.ts";
export type { PaceDocument, PaceShare, PaceWindow } from "./documents/call-pace.ts";
export type { ChildDocument } from "./documents/child.ts";
export type { CallCounts, RowCounts } from "./documents/counts.ts";
export type { AskDecisionDocument, DecisionDocument } from "./documents/decision.ts";
export type { EstimateDocument } from "./documents/estimate.ts";
export type { ParkDocument } from "./documents/park.ts";
export type { ReachDocument } from "./documents/reach.ts";
export type { LimitsDocument, ReceiptDocument } from "./documents/receipt.ts";
export type { SagaDocument } from "./documents/saga.ts";
export type { StepErrorDocument, StepReceiptDocument, StepState } from "./documents/step-receipt.ts";
export type { UsedDocument } from "./documents/used.ts";
export { isUnavailable, isUniqueViolation } from "./driver-error.ts";
export { type Backup, type BackupOptions, backUpStore } from "./embedded/backup/back-up.ts";
export { BackupError } from "./embedded/backup/errors.ts";
export { type RestoreMarker, readRestoreMarker } from "./embedded/backup/marker.ts";
export { type Restored, restoreStore } from "./embedded/backup/restore.ts";
export { EmbeddedPostgresError } from "./embedded/errors.ts";
export { type EmbeddedPostgres, type EmbeddedPostgresOptions, startEmbeddedPostgres } from "./embedded/postgres.ts";
export type { ExportedRow } from "./entity-export/page.ts";
export { exportEntity } from "./entity-export/walk.ts";
export { previewErasure, unsearchedTables } from "./erasures/preview.ts";
export { beginErasure, type Erasure, findErasure, hasDueErasure } from "./erasures/repo.ts";
export { type ErasureTimes, stepErasure } from "./erasures/step.ts";
export { type EventsToFollow, type FollowedEvents, followEvents } from "./events/follow.ts";
export { countEventMatches, type EventMatch, type EventMatchFilter, findEventMatches } from "./events/match.ts";
export {
  type EventsRecorded,
  inOrderOfDedupe,
  type NewDelivery,
  type NewEvent,
  type RoutingSeen,
  recordEvents,
} from "./events/record.ts";
export {
  type Event,
  type EventFilter,
  type EventRepository,
  eventsForProject,
  uuidAfterEvent,
  uuidOfEvent,
} from "./events/repo.ts";
export { type EventRetention, sweepProjectEvents } from "./events/sweep.ts";
export {
  findGrantClient,
  type GrantClient,
  grantClientSender,
  insertGrantClient,
  sweepUnusedGrantClients,
  sweepUsedGrantClients,
  touchGrantClient,
} from "./grants/clients.ts";
export {
  findGrantCode,
  type GrantCode,
  insertGrantCode,
  noteGrantOfCode,
  spendGrantCode,
  sweepGrantCodes,
} from "./grants/codes.ts";
export {
  endGrant,
  findGrant,
  findListedGrant,
  insertGrant,
  type ListedGrant,
  listGrants,
  narrowGrant,
} from "./grants/repo.ts";
export {
  findGrantToken,
  type Grant,
  type GrantToken,
  insertGrantTokens,
  spendGrantToken,
  sweepGrantTokens,
  type TokenOfGrant,
} from "./grants/tokens.ts";
export {
  findHookAnswersOfKey,
  type HookAnswerRow,
  listHookAnswers,
  putHookAnswers,
  releaseHookAnswers,
  sweepHookAnswers,
} from "./hooks/answers.ts";
export { findCallHooks } from "./hooks/find.ts";
export { type CallHookChange, type CallHookRepository, type CallHookRow, callHooksForProject } from "./hooks/repo.ts";
export { type ClaimedJobTask, claimJobTasks, type JobClaimRequest } from "./job-tasks/claim.ts";
export { deleteJobTasks } from "./job-tasks/delete.ts";
export { endJobTask } from "./job-tasks/end.ts";
export { holdJobTask } from "./job-tasks/hold.ts";
export { moveJobTask } from "./job-tasks/move.ts";
export { putJobTasks } from "./job-tasks/put.ts";
export { releaseJobTasks } from "./job-tasks/release.ts";
export { renewJobLeases } from "./job-tasks/renew.ts";
export { leaseIdleRunTask, leaseRunTask, type RunToLease, takeRunTask } from "./job-tasks/take-run.ts";
export type { FirstLease, JobTaskLease, NewJobTask } from "./job-tasks/task.ts";
export { appendJobEvents } from "./jobs/append-events.ts";
export {
  beginJobAttempt,
  findKeyedJobAttempt,
  type JobAttemptRecord,
  listJobAttempts,
  type NewJobAttempt,
} from "./jobs/attempts.ts";
export { requestJobCancel } from "./jobs/cancel.ts";
export {
  type ChildRecord,
  insertChildJobs,
  lockChildJobs,
  putJobPrograms,
  readChildJobs,
  setChildJob,
} from "./jobs/children.ts";
export { commitRun, type RunChange } from "./jobs/commit.ts";
export type { CommitOptions, DrivenJob, MadeCall, NewJobStep, RunCommit, RunLease } from "./jobs/commit-job.ts";
export type { ListedJob } from "./jobs/find-listed.ts";
export { findJobTwin } from "./jobs/find-twin.ts";
export { findKeyedJob, insertJobs } from "./jobs/insert.ts";
export { findJobQuotaReached, insertJobsInRoom } from "./jobs/insert-batch.ts";
export type { JobFilter } from "./jobs/list-filter.ts";
export { type JobWithSteps, loadJob, loadJobsWithSteps } from "./jobs/load.ts";
export { type JobProgramName, type JobProgramRecord, loadJobPins, loadJobProgram } from "./jobs/load-program.ts";
export { loadJobSteps } from "./jobs/load-steps.ts";
export { lockJob } from "./jobs/lock.ts";
export { clearJobLoopHolds, countJobLoopHold } from "./jobs/loop-holds.ts";
export type { KeyedJob, NewJob, NewJobProgram } from "./jobs/new-job.ts";
export { recordOfNewJob } from "./jobs/new-record.ts";
export { setJobPause } from "./jobs/pause.ts";
export { readJobBindings } from "./jobs/read-bindings.ts";
export { readJobRowBlocks } from "./jobs/read-row-blocks.ts";
export { type JobSetPlaces, readJobSetPlaces } from "./jobs/read-set-places.ts";
export { type JobSetRow, readJobSetRows } from "./jobs/read-set-rows.ts";
export { readTwinReceipts } from "./jobs/read-twin-receipts.ts";
export type { JobEventRecord, JobRecord, JobStepRecord, NewJobEvent } from "./jobs/record.ts";
export { type JobRepository, jobsForProject } from "./jobs/repo.ts";
export { setJobRowStates } from "./jobs/set-row-states.ts";
export { sweepJobRows } from "./jobs/sweep.ts";
export { type EndedJobBatch, type EndedJobsSwept, sweepEndedJobs } from "./jobs/sweep-ended.ts";
export {
  hasFailedUndo,
  type JobUndoEntry,
  type ListedUndoEntry,
  listJobUndoEntries,
  nextJobUndoEntries,
} from "./jobs/undo-entries.ts";
export type { JobSetRowChange, JobSetRun, NewJobRow } from "./jobs/write-rows.ts";
export { type JobUndoChange, type NewJobUndoEntry, writeJobUndo } from "./jobs/write-undo.ts";
export {
  type ApiKey,
  type CallerKey,
  countMadeKeys,
  createApiKey,
  ensureApiKey,
  findCallerKey,
  findCallerKeyById,
  findKeyById,
  listApiKeys,
  listMadeKeys,
  lockApiKey,
  revokeApiKey,
  touchApiKeys,
} from "./keys/repo.ts";
export { MigrationRefusedError, migrateDatabase, migrationsFolder } from "./migrate.ts";
export { probeWrites } from "./probe-writes.ts";
export { keepAudience, readAudience } from "./projects/audience.ts";
export { readHttpHosts } from "./projects/http-hosts.ts";
export { readConfirmRules, readPlanApproval } from "./projects/plan-policy.ts";
export { lockJobQuota, type QuotaReached } from "./projects/quotas.ts";
export {
  createFirstProject,
  createProject,
  findProject,
  findProjectByName,
  listProjects,
  type Project,
  type ProjectPolicy,
  setProjectPolicy,
} from "./projects/repo.ts";
export { holdDeploymentRouting, holdProjectRouting, readDeploymentRouting } from "./projects/routing.ts";
export { type ProjectUsage, usageOfProject } from "./projects/usage.ts";
export { ensureVaultCheck } from "./projects/vault-check.ts";
export { findQuarantinedIds, listHeldQuarantinedPosts, type ReleaseFilter } from "./quarantine/held.ts";
export { listQuarantinedPosts } from "./quarantine/list-page.ts";
export {
  findQuarantinedPost,
  listQuarantineSeals,
  markQuarantinedPostReleased,
  noteQuarantinedPost,
  putQuarantinedPosts,
  type QuarantinedPost,
  type QuarantineFilter,
  sealQuarantinedPost,
  type UnsealedPost,
} from "./quarantine/repo.ts";
export { sweepQuarantinedPosts } from "./quarantine/sweep.ts";
export {
  type CountedMatches,
  countReplayMatches,
  type FoundMatches,
  findReplayMatches,
  type ReplayFilter,
} from "./replays/match.ts";
export type { ReplayRecord } from "./replays/record.ts";
export {
  firstEventAt,
  type NewReplay,
  type ReplayChange,
  type ReplayRepository,
  type ReplayStart,
  replaysForProject,
} from "./replays/repo.ts";
export {
  findDeliveryRoom,
  lockReplay,
  moveReplay,
  type ReplayedSubscription,
  type ReplayMove,
  readReplayedSubscriptions,
} from "./replays/step.ts";
export { armLostReplays, expirePausedReplays, sweepReplays } from "./replays/sweep.ts";
export { type ClaimedReplay, replayLease } from "./replays/task.ts";
export {
  countHeldWork,
  findRestore,
  type HeldWork,
  noteRestore,
  type Restore,
  type RestoreNote,
  resumeRestored,
} from "./restores/repo.ts";
export { leftOutOfExports } from "./schema/exported-columns.ts";
export { plainBytes, type SealedTable, sealedTables } from "./schema/sealed-columns.ts";
export { type StoredColumn, storedColumns } from "./schema/stored-columns.ts";
export {
  type AccessClass,
  type AskContinuation,
  type AskEndpointEventType,
  type AskKind,
  type AuditActor,
  accessClasses,
  askEndpointEventTypes,
  type BackfillReason,
  type BackfillState,
  type CallOutcome,
  type ConnectedAccountState,
  callOutcomes,
  callStates,
  deliveryStates,
  type HookDecision,
  type HookPhase,
  hookPhases,
  type JobMode,
  type JobStatus,
  type JobTaskKind,
  jobStatuses,
  type ListenerEnd,
  type OverlapPolicy,
  overlapPolicies,
  type PlanApproval,
  type PollOutcome,
  planApprovals,
  type QuarantineReason,
  type ReplayReason,
  type ReplayState,
  type StandingNoticeKind,
  type StandingPauseReason,
  type StandingRunKind,
  type StandingRunReason,
  type StandingRunState,
  type StandingSourceKind,
  type StandingState,
} from "./schema/words.ts";
export { type DeploymentSecretRepository, secretsOfDeployment } from "./secrets/deployment.ts";
export { findSecrets, type SecretPlace } from "./secrets/find.ts";
export { type NewSecret, type SecretRepository, type SecretRow, secretsForProject } from "./secrets/repo.ts";
export type { ListedSkill, Skill } from "./skills/read.ts";
export {
  type NewSkill,
  type Promoted,
  type SkillBounds,
  type SkillRepository,
  skillsForProject,
} from "./skills/repo.ts";
export {
  type ArrivalLease,
  type ArrivedEvent,
  type ClaimedArrival,
  claimStandingArrivals,
  deleteStandingArrivals,
  holdStandingArrivals,
  readArrivedEvents,
  releaseStandingArrivals,
} from "./standing/arrivals.ts";
export {
  addBackfill,
  armBackfill,
  armLostBackfills,
  type BackfillMove,
  type BackfillRecord,
  cancelBackfill,
  countBackfillEvents,
  countWaitingRuns,
  type EventWalk,
  findBackfill,
  findRunningBackfill,
  findSourceRuns,
  findTakenEvents,
  listStillBackfills,
  moveBackfill,
  renameSourceRuns,
  type SourceRun,
  sweepBackfills,
  type WalkedEvent,
  walkBackfillEvents,
} from "./standing/backfills.ts";
export {
  addStandingUsage,
  findUsableKeys,
  readStandingRates,
  readStandingUsage,
  type StandingRate,
  type StandingUsage,
  sweepStandingRates,
  writeStandingRates,
} from "./standing/bounds.ts";
export { type ClaimedDueTask, claimDueTasks, type DueClaim } from "./standing/claim.ts";
export { readSeenKeys, type SeenKey, sweepSeenKeys, writeSeenKeys } from "./standing/dedupe.ts";
export {
  countStartedStandingRuns,
  countUnendedStandingRuns,
  type EndedStandingRun,
  endStandingRun,
  lockStandingStarts,
  wakeWaitingStandingRuns,
} from "./standing/end.ts";
export {
  countOpenStandingRuns,
  type LaneName,
  type LaneRoom,
  type LateBound,
  listWaitingStandingLanes,
  readQueuedStandingRuns,
  readStandingLanes,
  readStandingWakes,
  type StandingLane,
  type StandingWakes,
  skipLateStandingRuns,
} from "./standing/lanes.ts";
export {
  closeStandingListener,
  countStandingListeners,
  findStandingListeners,
  type HeardTrigger,
  openStandingListener,
  type StandingListener,
  sweepStandingListeners,
} from "./standing/listeners.ts";
export { noteStandingNotices } from "./standing/notices.ts";
export { countPassedOver, findReferencedEntities } from "./standing/passed-over.ts";
export {
  findStandingSeen,
  forgetStandingSeen,
  readStandingPolls,
  refreshStandingSeen,
  rememberStandingSeen,
  removeStaleStandingSeen,
  type SeenIds,
  type StandingPollRecord,
  sweepStandingSeen,
  writeStandingPoll,
} from "./standing/polls.ts";
export {
  addStandingVersion,
  changeStandingPrograms,
  clearDueTasks,
  decideStandingVersion,
  loadStandingVersions,
  lockStandingPrograms,
  readStandingPrograms,
  type StandingProgramChange,
  type StandingProgramRecord,
  type StandingProgramRepository,
  type StandingVersionRecord,
  standingProgramsForProject,
} from "./standing/programs.ts";
export {
  type CountedRun,
  changeStandingRuns,
  countEndedStandingRuns,
  insertStandingRuns,
  mergeSkippedStandingRuns,
  type NewStandingRun,
  readLastStandingRuns,
  type SkippedAgain,
  type StandingRunChange,
  type StandingRunRecord,
  type StandingRunRepository,
  standingRunsForProject,
} from "./standing/runs.ts";
export {
  type DueTaskMove,
  deleteDueTasks,
  holdDueTasks,
  moveDueTasks,
  putDueTasks,
  releaseDueTasks,
  renewDueTasks,
} from "./standing/settle-tasks.ts";
export { armLostStandingPrograms, sweepStandingPrograms, sweepStandingRuns } from "./standing/sweep.ts";
export type { DueTaskLease, NewDueTask } from "./standing/task.ts";
export {
  changeStandingWindows,
  insertStandingRunEvents,
  type NextClose,
  nextStandingCloses,
  readClosingStandingWindows,
  readLastStandingRunEvents,
  readStandingRunEvents,
  readStandingWindows,
  type StandingWindowChange,
  type WindowKey,
} from "./standing/windows.ts";
export {
  listZonedStandingPrograms,
  type RearmedSchedule,
  raiseStandingTzVersion,
  readStandingTzVersion,
  rearmStandingSchedules,
} from "./standing/zones.ts";
export {
  type AgentSubscriptionChange,
  type AgentSubscriptionRepository,
  agentSubscriptionsForProject,
  type NewAgentSubscription,
  type NotSubscribed,
} from "./subscriptions/agent-subscriptions.ts";
export { type AskEndpointRepository, askEndpointsForProject } from "./subscriptions/ask-endpoints.ts";
export { findNoticeEndpoints, type NoticeEndpoint } from "./subscriptions/notice-endpoints.ts";
export { findLastDeliveryError, findOldestPendingEvent } from "./subscriptions/oldest-pending.ts";
export { readSubscriptionProgress, type SubscriptionProgress } from "./subscriptions/read-progress.ts";
export {
  type NewSubscription,
  type Subscription,
  type SubscriptionChange,
  type SubscriptionRepository,
  subscriptionsForProject,
} from "./subscriptions/repo.ts";
export {
  type HealthLimits,
  reportSubscriptionFailures,
  type SubscriptionFailures,
  type SubscriptionHealth,
} from "./subscriptions/report-failures.ts";
export { reportSubscriptionRecoveries } from "./subscriptions/report-recoveries.ts";
export { type ProjectRouting, type RoutedSubscription, readProjectRouting } from "./subscriptions/routing.ts";
export { deleteEndedSubscriptions, findEndedSubscriptions } from "./subscriptions/sweep.ts";
export { adoptDeliveryTasks } from "./task-tables/adopt.ts";
export { advanceDeliveryEpoch, readDeliveryEpoch } from "./task-tables/advance-epoch.ts";
export { compactTasks, countDeadTasks, type TaskTable } from "./task-tables/compact.ts";
export {
  claimToolVectors,
  keepToolVectors,
  readToolVectors,
  releaseToolVectors,
  sweepToolVectors,
  type ToolTextKey,
  type ToolVector,
  touchToolVectors,
} from "./tool-vectors/repo.ts";
export {
  type DataKeyRow,
  destroyDataKeys,
  findDataKeys,
  listDataKeyNumbers,
  listDataKeys,
  lockDataKeys,
  type NewDataKey,
  putDataKeys,
  removeReplacedDataKeys,
  rewrapDataKey,
} from "./vault/data-keys.ts";
export {
  countSealedRows,
  type OldValue,
  readSealedPage,
  type SealedPage,
  type SealedRow,
  sealedTableNames,
  type WalkPosition,
  writeResealed,
} from "./vault/reseal.ts";
export {
  beginVaultRotation,
  findVaultCheck,
  findVaultRotation,
  forgetVaultNodes,
  leaseVaultRotation,
  listOldSubkeys,
  listRetiredVaultKeys,
  listVaultNodes,
  moveVaultRotation,
  noteVaultNode,
  type OldSubkey,
  putOldSubkeys,
  readVaultVersion,
  replaceVaultCheck,
  type VaultNode,
  type VaultRotation,
  type VaultVersion,
} from "./vault/rotations.ts";
