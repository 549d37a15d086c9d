export { applyDefaults } from "./apply-defaults.ts";
export { type BoundBaseUrl, bindBaseUrl, hostArguments } from "./bind-base-url.ts";
export { DefinitionError, type DefinitionFault } from "./definition-error.ts";
export {
  type CheckedDeployment,
  checkDeployment,
  type Deployment,
  isOauthRegistered,
  loadDeployment,
} from "./deployment.ts";
export type { AccessClass, JsonSchema } from "./documents.ts";
export { findTrigger } from "./find-trigger.ts";
export { createTenantValidators, createValidator, type SchemaValidator } from "./json-schema.ts";
export { loadCatalog } from "./load.ts";
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
  Tool,
  ToolDefinition,
  Toolkit,
  Trigger,
  Webhook,
} from "./model.ts";
export { nearest } from "./nearest.ts";
export { pinToolkit, type ToolkitPin, toolkitFromPin } from "./pin.ts";
export { type CatalogViews, createCatalogViews } from "./private/private-toolkits.ts";
export { type RenderedRequest, RequestValueError, renderRequest } from "./render-request.ts";
export type { SchemaFault } from "./schema-faults.ts";
export { type CatalogServiceOptions, createCatalogService } from "./service.ts";
export type { CatalogView } from "./view.ts";
