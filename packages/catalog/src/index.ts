export { DefinitionError, type DefinitionFault } from "./definition-error.ts";
export { type Deployment, loadDeployment } from "./deployment.ts";
export type { AccessClass, JsonSchema } from "./documents.ts";
export { findTrigger } from "./find-trigger.ts";
export { createValidator, type SchemaFault, type SchemaValidator } from "./json-schema.ts";
export { loadCatalog } from "./load.ts";
export type {
  AccountVariable,
  Action,
  Audience,
  AuthScheme,
  Catalog,
  NormalizedPost,
  NormalizeFault,
  Post,
  Tool,
  ToolDefinition,
  Toolkit,
  Trigger,
  Webhook,
} from "./model.ts";
export { type CatalogServiceOptions, createCatalogService } from "./service.ts";
