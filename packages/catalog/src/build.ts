import { parseTemplateTree } from "@svc/core";
import { type DeploymentValues, decidesOrigin, fillInDeployment } from "./base-url.ts";
import type {
  ActionDocument,
  AuthDocument,
  JsonSchema,
  ToolDocument,
  ToolkitDeploymentDocument,
  ToolkitDocument,
  TriggerDocument,
  WebhookDocument,
} from "./documents.ts";
import { createValidator, isJsonObject, withNulls } from "./json-schema.ts";
import { compileMatch } from "./match.ts";
import type { Action, Audience, AuthScheme, ToolDefinition, Toolkit, Trigger, Webhook } from "./model.ts";
import { compileNormalize } from "./normalize.ts";

/** What the definitions of one toolkit are, once they satisfy every check. `tools` is ordered by name. */
export type ToolkitDocuments = {
  readonly toolkit: ToolkitDocument;
  readonly tools: ReadonlyMap<string, ToolDocument>;
};

/** What a deployment says of one toolkit: its bindings, and the audience that stands where they say nothing. */
export type Bindings = { readonly values: ToolkitDeploymentDocument; readonly audience: Audience };

/** Compiles one toolkit. The documents must have passed the checks: what they refuse is not handled here. */
export function buildToolkit({ toolkit, tools }: ToolkitDocuments, { values, audience }: Bindings): Toolkit {
  const entries = [...tools].sort(([a], [b]) => (a < b ? -1 : 1));
  const baseUrl = fillInDeployment(toolkit.baseUrl, values);
  const { always = {} } = toolkit;
  return {
    slug: toolkit.slug,
    name: toolkit.name,
    description: toolkit.description.trim(),
    version: toolkit.version,
    category: toolkit.category,
    baseUrl,
    auth: toolkit.auth.map((scheme) => buildAuthScheme(scheme, values)),
    account: (toolkit.account ?? []).map(({ name, description, example = "", pattern }) => {
      return { name, description, example, pattern, decidesOrigin: decidesOrigin(baseUrl, name) };
    }),
    always: {
      headers: parseTemplateTree(always.headers ?? {}),
      query: parseTemplateTree(always.query ?? {}),
      body: parseTemplateTree(always.body ?? {}),
    },
    identify: toolkit.identify,
    webhook: toolkit.webhook && buildWebhook(toolkit.webhook, values.webhook?.audience ?? audience),
    actions: entries.flatMap(([name, tool]) =>
      tool.kind === "action" ? [buildAction(toolkit, name, tool, values)] : [],
    ),
    triggers: entries.flatMap(([name, tool]) =>
      tool.kind === "trigger" ? [buildTrigger(toolkit, name, tool, values)] : [],
    ),
  };
}

function buildAuthScheme(scheme: AuthDocument, values: DeploymentValues): AuthScheme {
  const fillIn = (text: string) => fillInDeployment(text, values);
  switch (scheme.type) {
    case "oauth2":
      return {
        type: scheme.type,
        authorizeUrl: fillIn(scheme.authorizeUrl),
        tokenUrl: fillIn(scheme.tokenUrl),
        defaultScopes: scheme.defaultScopes.map(fillIn),
        refresh: scheme.refresh,
      };
    case "api_key":
      return { ...scheme, value: parseTemplateTree(scheme.value) };
    case "client_credentials":
      return {
        type: scheme.type,
        tokenUrl: fillIn(scheme.tokenUrl),
        defaultScopes: (scheme.defaultScopes ?? []).map(fillIn),
      };
    default:
      return scheme;
  }
}

function buildWebhook(document: WebhookDocument, audience: Audience): Webhook {
  const ignored = (document.ignore ?? []).map(compileMatch);
  const common = {
    secretEnv: document.secretEnv,
    audience,
    ignores: (post: Parameters<Webhook["ignores"]>[0]) => ignored.some((matches) => matches(post)),
  };
  switch (document.scheme) {
    case "hmac_sha256": {
      const { scheme, header, encoding, prefix = "" } = document;
      return { ...common, scheme, header: header.toLowerCase(), encoding, prefix };
    }
    case "slack_v0":
      return { ...common, scheme: document.scheme };
    case "token_query":
      return { ...common, scheme: document.scheme, parameter: document.parameter };
  }
}

function buildDefinition(toolkit: ToolkitDocument, name: string, document: ToolDocument, values: DeploymentValues) {
  return {
    slug: `${toolkit.slug}.${name}`,
    name,
    toolkitSlug: toolkit.slug,
    scopes: (document.scopes ?? []).map((scope) => fillInDeployment(scope, values)),
    description: document.description.trim(),
    intents: document.intents,
    outputSchema: document.output,
  } satisfies Partial<ToolDefinition>;
}

function buildAction(
  toolkit: ToolkitDocument,
  name: string,
  document: ActionDocument,
  values: DeploymentValues,
): Action {
  const { request, response = {} } = document;
  const inputSchema = document.class === "destructive" ? withConfirm(document.input) : document.input;
  return {
    ...buildDefinition(toolkit, name, document, values),
    kind: "action",
    class: document.class,
    callable: document.callable ?? true,
    inputSchema,
    idempotency: document.idempotency,
    request: {
      method: request.method,
      path: parseTemplateTree(request.path),
      query: parseTemplateTree(request.query ?? {}),
      headers: parseTemplateTree(request.headers ?? {}),
      body: request.body === undefined ? undefined : parseTemplateTree(request.body),
    },
    response: { unwrap: response.unwrap ?? "", empty: response.empty, error: response.error },
    validateInput: createValidator(inputSchema),
    validateOutput: createValidator(withNulls(document.output)),
  };
}

/** Destructive tools are held until `confirm` is true; it is part of no request. */
function withConfirm(input: JsonSchema): JsonSchema {
  const properties = isJsonObject(input.properties) ? input.properties : {};
  const confirm = {
    type: "boolean",
    default: false,
    description: "Set to true to carry the call out. Without it the call is held and nothing is changed.",
  };
  return { ...input, properties: { ...properties, confirm } };
}

function buildTrigger(
  toolkit: ToolkitDocument,
  name: string,
  document: TriggerDocument,
  values: DeploymentValues,
): Trigger {
  return {
    ...buildDefinition(toolkit, name, document, values),
    kind: "trigger",
    class: "read",
    callable: false,
    inputSchema: { type: "object", properties: {}, additionalProperties: false },
    matches: compileMatch(document.match),
    normalize: compileNormalize(document),
  };
}
