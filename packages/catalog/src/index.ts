export { type BoundBaseUrl, bindBaseUrl, hostArguments } from "./bind-base-url.ts";
export { faultsOfPoll, type PollFault } from "./check-poll.ts";
export { classToConfirm } from "./class-to-confirm.ts";
export { DefinitionError, type DefinitionFault, definitionFaultText } from "./definition-error.ts";
export { createDefinitionFile, type DefinitionFile, parseDefinitionFile } from "./definition-file.ts";
export {
  type CheckedDeployment,
  checkDeployment,
  type Deployment,
  isOauthRegistered,
  loadDeployment,
  toDeployment,
} from "./deployment.ts";
export type {
  AccessClass,
  JsonSchema,
  PagingDocument,
  PollCursorDocument,
  PollDocument,
  ToolDocument,
  ToolkitDocument,
} from "./documents.ts";
export { catalogFaults } from "./errors.ts";
export { findTrigger } from "./find-trigger.ts";
export { fillInput, fitInput } from "./fit-input.ts";
export { createTenantValidators, createValidator, type SchemaValidator } from "./json-schema.ts";
export { type KnownNames, knownNames } from "./known-names.ts";
export { createCatalog, loadCatalog } from "./load.ts";
export type {
  AccountVariable,
  Action,
  Audience,
  AuthScheme,
  Catalog,
  CodeTool,
  NormalizedPost,
  NormalizeFault,
  Post,
  SamplePost,
  Tool,
  ToolDefinition,
  Toolkit,
  Trigger,
  Webhook,
} from "./model.ts";
export { nearest } from "./nearest.ts";
export { isOmittedByNull, type NullPlace, nullPlace, nullPlaceAt, withoutOptionalNulls } from "./optional-nulls.ts";
export { pinToolkit, type ToolkitPin, toolkitFromPin } from "./pin.ts";
export { type CatalogViews, createCatalogViews } from "./private/private-toolkits.ts";
export { readProviderTime } from "./provider-time.ts";
export { type RenderedRequest, RequestValueError, renderRequest } from "./render-request.ts";
export { shownSampleMs } from "./sample-post.ts";
export { type SchemaFault, unknownPropertyText } from "./schema-faults.ts";
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
} from "./sensitivity.ts";
export { type CatalogServiceOptions, createCatalogService } from "./service.ts";
export type { CatalogView } from "./view.ts";
export { withConfirm } from "./with-confirm.ts";
export { withoutExcess } from "./without-excess.ts";
