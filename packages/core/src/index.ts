export {
  type AddressGuard,
  AddressRefusedError,
  type AddressVerdict,
  createAddressGuard,
} from "./address-guard.ts";
export { type AgentToolGroup, agentToolGroups, isOfWholeProject, mayUseAgentTools } from "./agent-tools.ts";
export { type Batcher, type BatcherOptions, createBatcher, OverloadedError } from "./batch.ts";
export {
  type Binding,
  bindingFaults,
  bindingOf,
  bindingText,
  isEntityGranted,
  isRowReached,
  isToolGranted,
  isToolkitGranted,
  isWithin,
  type JobBinding,
  ToolNotGranted,
} from "./binding.ts";
export { callLimitBounds } from "./call-limit-bounds.ts";
export { type Clock, createOffsetClock, systemClock } from "./clock.ts";
export {
  type ConfirmRule,
  type ConfirmScope,
  confirmingRule,
  confirmLifeMs,
  confirmRulesOf,
  confirmScopes,
  isAsStrict,
  mayElicit,
  noConfirmRule,
} from "./confirm.ts";
export { linkExpiry } from "./console-link.ts";
export { acceptedEncodings, type BodyDecoder, createBodyDecoder } from "./content-coding.ts";
export { defineFaults } from "./define-faults.ts";
export { formatDuration, parseDuration } from "./duration.ts";
export { checkEndpointUrl } from "./endpoint-url.ts";
export {
  assertExhaustive,
  Fault,
  type FaultCode,
  type FaultDetail,
  formatValue,
  retryAfterText,
} from "./errors.ts";
export { addExactly, isBelow, wholeNumber } from "./exact-arithmetic.ts";
export { type ExactJsonOptions, JsonTooLargeError, parseExactJson } from "./exact-json.ts";
export {
  call,
  count,
  field,
  type PartedText,
  type PartKind,
  partedOf,
  renderAdvice,
  renderText,
  text,
  textOfWire,
  type Written,
  wait,
  waitAs,
  wireParts,
} from "./fault-text.ts";
export { coreFaults } from "./faults.ts";
export { displayText, type ForeignText, isReadableForm, readForeignText, requireText } from "./foreign-text.ts";
export { createGuardedLookup, type ResolveName } from "./guarded-lookup.ts";
export { createHmacKey, type HmacKey, hmacSha256, isHmacSha256 } from "./hmac.ts";
export { type HttpTarget, httpTargetOf, parseHttpHost } from "./http-host.ts";
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
} from "./id.ts";
export { isJsonObject, isObject, type JsonObject, type JsonValue, readJsonObject } from "./json.ts";
export { holdsMoreThan, measureJson } from "./json-size.ts";
export {
  createKeyring,
  type DataKey,
  type DataKeyUse,
  dataKeyHeader,
  generateDataKeySecret,
  type Keyring,
  type KeyScope,
} from "./keyring.ts";
export { adminList, byId, byText, type Page, projectList } from "./list.ts";
export { LeastRecentlyUsed } from "./lru.ts";
export { isMethodOverride, methodOverrideOf } from "./method-override.ts";
export { isExactDouble } from "./number-text.ts";
export { type Allowance, allowanceOf } from "./pace.ts";
export { openPageToken, type PageScope, type PageSizeBounds, pageSizeOf, sealPageToken } from "./page-token.ts";
export {
  type CallContext,
  type ContextKey,
  keysOfChain,
  type Principal,
  type ProjectPrincipal,
  principalContext,
  type Role,
  requireProject,
} from "./principal.ts";
export {
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
} from "./raw-json.ts";
export {
  checkFilterText,
  optionalId,
  requireId,
  type TimeRange,
  timeRange,
} from "./request.ts";
export {
  createSealer,
  generateVaultKey,
  parseVaultKeys,
  SealError,
  type Sealer,
  type VaultKey,
  vaultKeyIdOf,
} from "./seal.ts";
export {
  digestSecret,
  equalConstantTime,
  generateApiKey,
  generateSigningSecret,
  generateToken,
  isWellFormedApiKey,
  readSigningSecret,
  signingSecretBytes,
} from "./secret.ts";
export { isShared, shareMessage } from "./shared-message.ts";
export { parseJsonInTurns } from "./sliced-json.ts";
export { batches, type Sweep } from "./sweep.ts";
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
} from "./template.ts";
export {
  parseTemplateTree,
  placeholdersOfTree,
  renderTemplateTree,
  type TemplatePath,
  type TemplateTree,
} from "./template-tree.ts";
export { isEntityId, isPrintableText, singleLine, storableText } from "./text.ts";
export { secondsOf } from "./time/civil.ts";
export { readRetryAfter } from "./time/http-date.ts";
export { dateOf, isoTime } from "./time/iso-time.ts";
export { type Instant, readInstant, readTime, timeForm } from "./time/rfc3339.ts";
export { type AtOnce, createAtOnce } from "./work/at-once.ts";
export type { HeldMemory, MemoryBounds, MemoryHold } from "./work/held-memory.ts";
export { Lines } from "./work/lines.ts";
export { createThreadPool, type ThreadPool, ThreadStoppedError } from "./work/thread-pool.ts";
export type { Turns } from "./work/turns.ts";
export {
  createWorkMeter,
  type HeldLoop,
  type Work,
  type WorkMeter,
  type WorkOwner,
} from "./work/work-meter.ts";
