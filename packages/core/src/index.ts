export { type AgentToolGroup, agentToolGroups, isOfWholeProject, mayUseAgentTools } from "./access/agent-tools.ts";
export {
  type Binding,
  bindingFaults,
  bindingOf,
  bindingText,
  isEntityGranted,
  isRowInScope,
  isToolGranted,
  isToolkitGranted,
  isWithin,
  type JobBinding,
  ToolNotGranted,
} from "./access/binding.ts";
export {
  type ConfirmRule,
  type ConfirmScope,
  callLimitBounds,
  confirmingRule,
  confirmLifeMs,
  confirmRulesOf,
  confirmScopes,
  isAsStrict,
  mayElicit,
  noConfirmRule,
  strictestRule,
} from "./access/confirm.ts";
export { linkExpiry } from "./access/console-link.ts";
export {
  type CallContext,
  type ContextKey,
  hasRole,
  keysOfChain,
  type PortalAccess,
  type Principal,
  type ProjectPrincipal,
  principalContext,
  type Role,
  requireProject,
  roles,
  waitContext,
} from "./access/principal.ts";
export { type Batcher, type BatcherOptions, createBatcher, OverloadedError } from "./batch.ts";
export { type Clock, createOffsetClock, systemClock } from "./clock.ts";
export { createHmacKey, type HmacKey, hmacSha256, isHmacSha256 } from "./crypto/hmac.ts";
export {
  createKeyring,
  type DataKey,
  type DataKeyUse,
  dataKeyHeader,
  generateKeyBytes,
  type Keyring,
  type KeyScope,
} from "./crypto/keyring.ts";
export {
  createSealer,
  generateVaultKey,
  parseVaultKeys,
  SealError,
  type Sealer,
  type VaultKey,
  vaultKeyIdOf,
} from "./crypto/seal.ts";
export {
  apiKeyPrefix,
  digestSecret,
  equalConstantTime,
  generateApiKey,
  generateSigningSecret,
  generateToken,
  isWellFormedApiKey,
  readSigningSecret,
  signingSecretBytes,
} from "./crypto/secret.ts";
export { rowErrorText } from "./failures/app-error.ts";
export { type AppNames, callFailure } from "./failures/call-failure.ts";
export { deliveryFailure } from "./failures/delivery-failure.ts";
export { type Failure, type FailureKind, type FailureRemedy, refusedRunFailure } from "./failures/failure.ts";
export { type ExplainedJob, jobFailure, stepErrorFailure, stepToExplain } from "./failures/job-failure.ts";
export { defineFaults } from "./faults/define-faults.ts";
export {
  assertExhaustive,
  Fault,
  type FaultCode,
  type FaultDetail,
  formatValue,
  retryAfterText,
} from "./faults/errors.ts";
export {
  call,
  count,
  type FaultText,
  field,
  type PartedText,
  type PartKind,
  partedOf,
  renderAdvice,
  renderText,
  text,
  textOfWire,
  wait,
  waitAs,
  wireParts,
} from "./faults/fault-text.ts";
export { coreFaults } from "./faults/faults.ts";
export { cellMark, createProjectId, isCell, parseCell, webhookBase } from "./ids/cell.ts";
export {
  type AccountId,
  type AuditId,
  type BackfillId,
  createId,
  type DeliveryId,
  type ErasureId,
  type EventId,
  firstUuidAt,
  type GrantId,
  type HookId,
  type Id,
  type IdPrefix,
  idOfUuid,
  type KeyId,
  type LinkId,
  type NodeId,
  type PersonId,
  type ProjectId,
  parseId,
  type QuarantineId,
  type ReplayId,
  type SessionId,
  type StandingProgramId,
  type StandingRunId,
  type SubscriptionId,
  timeOfId,
  uuidOfId,
  type WebhookSecretId,
} from "./ids/id.ts";
export { openPageToken, type PageScope, type PageSizeBounds, pageSizeOf, sealPageToken } from "./ids/page-token.ts";
export { addExactly, isBelow, wholeNumber } from "./json/exact-arithmetic.ts";
export {
  type ExactJsonOptions,
  JsonTooLargeError,
  jsonDepthMax,
  parseExactJson,
  RepeatedNameError,
} from "./json/exact-json.ts";
export { isJsonObject, isObject, type JsonObject, type JsonValue, readJsonObject } from "./json/json.ts";
export { holdsMoreThan, measureJson, repeatsName } from "./json/json-size.ts";
export { isExactDouble } from "./json/number-text.ts";
export {
  isJsonNumber,
  isRawJson,
  type JsonNumber,
  nearestDouble,
  type RawNumber,
  rawJson,
  replaceRawNumbers,
  scalarText,
  withPlainNumbers,
} from "./json/raw-json.ts";
export { type JsonLimits, parseJsonInTurns, repeatsNameInTurns } from "./json/sliced-json.ts";
export { adminList, byId, byText, type Page, projectList } from "./list.ts";
export { LeastRecentlyUsed } from "./lru.ts";
export { createMinuteCount, type MinuteCount } from "./minute-count.ts";
export {
  type AddressDecision,
  type AddressGuard,
  AddressRefusedError,
  createAddressGuard,
} from "./net/address-guard.ts";
export { type CertificateFault, certificateFault } from "./net/certificate-fault.ts";
export { acceptedEncodings, type BodyDecoder, createBodyDecoder } from "./net/content-coding.ts";
export { checkEndpointUrl } from "./net/endpoint-url.ts";
export { createGuardedLookup, type ResolveName } from "./net/guarded-lookup.ts";
export { type HttpTarget, httpTargetOf, parseHttpHost } from "./net/host-name.ts";
export { isMethodOverride, methodOverrideOf } from "./net/method-override.ts";
export {
  checkFilterText,
  optionalId,
  requireId,
  type TimeRange,
  timeRange,
} from "./net/request.ts";
export {
  type OperationalEventName,
  type OperationalEventPayload,
  operationalEventTypes,
  operationalToolkitSlug,
  operationalTriggerSlug,
  pendingCountMax,
  skillsToolkitSlug,
} from "./operational-events.ts";
export { type Allowance, allowanceOf } from "./pace.ts";
export {
  faultForCustomer,
  type Quota,
  type QuotaExcess,
  type QuotaName,
  type Quotas,
  quotaFaults,
  quotaNames,
  quotaOf,
  quotas,
  unlimited,
} from "./quotas/quota.ts";
export { Rate } from "./quotas/rate.ts";
export { isShared, shareMessage } from "./shared-message.ts";
export { batches, type Sweep } from "./sweep.ts";
export { formatDuration, parseDuration } from "./text/duration.ts";
export { displayText, type ForeignText, isReadableForm, readForeignText, requireText } from "./text/foreign-text.ts";
export { formFieldsOf, readFormInTurns } from "./text/form.ts";
export {
  type Placeholder,
  parseTemplate,
  placeholdersOf,
  renderTemplate,
  type Template,
  type TemplateFilter,
  type TemplateScope,
  TemplateSyntaxError,
  TemplateValueError,
} from "./text/template.ts";
export {
  parseTemplateTree,
  placeholdersOfTree,
  renderTemplateTree,
  type TemplatePath,
  type TemplateTree,
} from "./text/template-tree.ts";
export { isEntityId, isPrintableText, singleLine, storableText } from "./text/text.ts";
export { secondsOf } from "./time/civil.ts";
export { readRetryAfter } from "./time/http-date.ts";
export { dateOf, isoTime } from "./time/iso-time.ts";
export { type Instant, readInstant, readTime, timeForm } from "./time/rfc3339.ts";
export { type ConcurrencyLimiter, createConcurrencyLimiter } from "./work/concurrency-limiter.ts";
export type { HeldMemory, MemoryBounds, MemoryHold } from "./work/held-memory.ts";
export { Lines } from "./work/lines.ts";
export { createThreadPool, type ThreadPool, ThreadStoppedError } from "./work/thread-pool.ts";
export {
  beginSpan,
  claimSpan,
  currentTrace,
  isTraced,
  type Span,
  type SpanFacts,
  type SpanStart,
  spanned,
  type Tracer,
  useTracer,
  withinSpan,
} from "./work/trace.ts";
export { createSlices, type Slices, type Turns } from "./work/turns.ts";
export {
  type BlockedLoop,
  createWorkMeter,
  type Work,
  type WorkMeter,
  type WorkOwner,
} from "./work/work-meter.ts";
