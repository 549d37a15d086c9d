export {
  type AddressGuard,
  AddressRefusedError,
  type AddressVerdict,
  createAddressGuard,
} from "./address-guard.ts";
export { type Batcher, type BatcherOptions, createBatcher, OverloadedError } from "./batch.ts";
export { type Clock, createOffsetClock, isoTime, systemClock } from "./clock.ts";
export {
  type Connection,
  createGuardedAgent,
  type GuardedAgent,
  type GuardedAgentOptions,
  type Route,
  type Routed,
} from "./dial.ts";
export { formatDuration, parseDuration } from "./duration.ts";
export { checkEndpointUrl } from "./endpoint-url.ts";
export { assertNever, type Fault, type FaultDetail, type FaultList, fault, faults, formatValue } from "./errors.ts";
export { createGuardedLookup, type ResolveName } from "./guarded-lookup.ts";
export {
  type AccountId,
  createId,
  type DeliveryId,
  type EventId,
  firstUuidAt,
  type Id,
  type IdPrefix,
  idOfUuid,
  type KeyId,
  type NodeId,
  type ProjectId,
  parseId,
  type QuarantineId,
  type SubscriptionId,
  timeOfId,
  uuidOfId,
} from "./id.ts";
export { openPageToken, type PageScope, type PageSizeBounds, pageSizeOf, sealPageToken } from "./page-token.ts";
export { type Principal, type ProjectPrincipal, principalContext, type Role, requireProject } from "./principal.ts";
export { optionalId, type Page, pageOf, pageRows, requireId, type TimeRange, timeRange } from "./request.ts";
export { createSealer, generateVaultKey, parseVaultKeys, SealError, type Sealer, type VaultKey } from "./seal.ts";
export {
  digestSecret,
  equalConstantTime,
  generateApiKey,
  generateSigningSecret,
  isWellFormedApiKey,
  signingSecretBytes,
} from "./secret.ts";
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
export { isEntityId, isPrintableText } from "./text.ts";
