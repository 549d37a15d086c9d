export { isPlainPath, keySegment } from "./build/base-url.ts";
export { type BoundBaseUrl, bindBaseUrl, hostArguments, isBound } from "./build/bind-base-url.ts";
export { classToConfirm, withConfirm } from "./build/class-to-confirm.ts";
export {
  type CheckedDeployment,
  checkDeployment,
  type Deployment,
  isOauthRegistered,
  loadDeployment,
  toDeployment,
} from "./build/deployment.ts";
export { mcpToolDigest } from "./build/mcp-request.ts";
export {
  isOmittedByNull,
  type NullPlace,
  nullPlace,
  nullPlaceAt,
  withoutOptionalNulls,
} from "./build/optional-nulls.ts";
export { pinToolkit, type ToolkitPin, toolkitFromPin } from "./build/pin.ts";
export { type BodyReading, elementsOf, readPostBody } from "./build/read-body.ts";
export {
  fieldsText,
  isFieldWith,
  type RenderedRequest,
  RequestValueError,
  renderRequest,
} from "./build/render-request.ts";
export { withoutExcess } from "./build/without-excess.ts";
export { faultsOfPoll, type PollFault } from "./check/check-poll.ts";
export { type KnownNames, knownNames } from "./check/known-names.ts";
export { nearest } from "./check/nearest.ts";
export { type SchemaFault, unknownPropertyText } from "./check/schema-faults.ts";
export {
  holdsSensitivePlace,
  isSensitiveAt,
  isSensitivePlace,
  marksSensitive,
  placeAlong,
  placeAt,
  referencedSchema,
  rulesOf,
  type SchemaPlace,
  schemaPlace,
} from "./check/sensitivity.ts";
export { catalogFaults } from "./errors.ts";
export {
  createToolkitImporter,
  importMemoryMib,
  importThread,
  type McpServerQuery,
  type McpServerReading,
  type OpenIdReading,
  type ReadSource,
  type SourceReading,
  type ToolkitImporter,
} from "./import/import-toolkit.ts";
export type {
  AccountVariable,
  Action,
  ArrivedPost,
  Audience,
  AuthScheme,
  Catalog,
  CodeTool,
  HandshakeAnswer,
  NormalizedPost,
  NormalizeFault,
  OwnEventType,
  Post,
  SamplePost,
  SecretPlace,
  Tool,
  ToolDefinition,
  Toolkit,
  Trigger,
  UnsignedPost,
  Webhook,
  WebhookSecret,
} from "./model.ts";
export { readEventSchema, sampleOfSchema } from "./private/event-schema.ts";
export { parsePrivateToolkit } from "./private/parse-definition.ts";
export { type CatalogViews, createCatalogViews } from "./private/private-toolkits.ts";
export {
  createDefinitionFile,
  DefinitionError,
  type DefinitionFile,
  definitionFaultText,
  type FileFault,
  parseDefinitionFile,
} from "./read/definition-file.ts";
export type {
  AccessClass,
  JsonSchema,
  OauthDocument,
  PagingDocument,
  PollCursorDocument,
  PollDocument,
  ToolDocument,
  ToolkitDocument,
} from "./read/documents.ts";
export { createCatalog, loadCatalog } from "./read/load.ts";
export { accountSidesOf, isPlayed, type SandboxMode, sidesOf, type ToolkitSides } from "./sandbox-mode.ts";
export { fillInput, fitInput } from "./schema/fit-input.ts";
export { createTenantValidators, createValidator, type SchemaValidator } from "./schema/json-schema.ts";
export { readProviderTime } from "./schema/provider-time.ts";
export { type CatalogServiceOptions, createCatalogService } from "./service.ts";
export { createSourceWatcher, type SourceWatcher } from "./source/watch-sources.ts";
export { findTrigger } from "./view/find-trigger.ts";
export { encodeSample, shownSampleMs } from "./view/sample-post.ts";
export { appNamesOf, type CatalogView } from "./view/view.ts";
