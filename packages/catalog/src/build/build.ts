import { createHash } from "node:crypto";
import { type ProjectId, parseDuration, parseTemplateTree, placeholdersOfTree } from "@svc/core";
import type { Action, Audience, AuthScheme, BodyRule, ToolDefinition, Toolkit, Trigger, Webhook } from "../model.ts";
import type {
  ActionDocument,
  AuthDocument,
  BodyDocument,
  JsonSchema,
  ToolDocument,
  ToolkitDeploymentDocument,
  ToolkitDocument,
  ToolkitDocuments,
  TriggerDocument,
  WebhookDocument,
} from "../read/documents.ts";
import { createValidator, type ValidatorFactory, withNulls } from "../schema/json-schema.ts";
import { compileLinearRegExp, isShortEnough, type LinearRegExp } from "../schema/linear-reg-exp.ts";
import { samplePost } from "../view/sample-post.ts";
import { compileHandshakes } from "../webhook/handshake.ts";
import { compileVerifier } from "../webhook/verifier.ts";
import { type DeploymentValues, decidesOrigin, fillInDeployment } from "./base-url.ts";
import { isBound } from "./bind-base-url.ts";
import { questionsOf } from "./binding-questions.ts";
import { withConfirm } from "./class-to-confirm.ts";
import { compileMatch } from "./match.ts";
import { mcpRequest, mcpResponse } from "./mcp-request.ts";
import { compileNormalize } from "./normalize.ts";

/**
 * Values that are needed to compile a toolkit (one app's tools and webhooks) and do not come from its YAML definition (for example the
 * values of the deployment).
 */
export type Bindings = {
  /**
   * The values that the operator's deployment file sets for the toolkit's app. Empty for a private toolkit (one that a project published
   * for itself).
   */
  readonly values: ToolkitDeploymentDocument;
  /**
   * Projects that receive the webhook events of the toolkit's app, if the deployment file does not set this: `accounts` (those with the
   * account that a webhook post names) or `projects` (every project).
   */
  readonly audience: Audience;
  /** Project that owns a private toolkit (one that a project published for itself). If not set, the toolkit is shared by all projects. */
  readonly ownerProjectId?: ProjectId;
  /**
   * True if the toolkit names the real app that it calls, so that the sandbox does not answer for it unless it must (`force`). Has no effect
   * if the address of the app needs a value of the deployment that is not set. Default: false.
   */
  readonly isLive?: boolean | undefined;
  /**
   * Creates the functions that validate values against JSON Schemas of the toolkit. Default: functions for shared toolkits, whose schemas
   * the operator trusts.
   */
  readonly validators?: ValidatorFactory;
};

/**
 * Returns the toolkit (the tools and webhooks of one app), compiled from its parsed definition files. Call this function only with files in
 * which the checks found no error; it does not check them again.
 */
export function buildToolkit(documents: ToolkitDocuments, bindings: Bindings): Toolkit {
  const steps = buildInSteps(documents, bindings);
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}

/**
 * Compiles a toolkit (one app's tools and webhooks) from its parsed definition files, in which the checks found no error. Yields after each
 * of its tools, so that other work can run in between.
 */
export function* buildInSteps(
  { toolkit, tools, sayings }: ToolkitDocuments,
  bindings: Bindings,
): Generator<void, Toolkit> {
  const { values, audience, ownerProjectId = "", isLive } = bindings;
  const [actions, triggers]: [Action[], Trigger[]] = [[], []];
  for (const [name, tool] of [...tools].sort(([a], [b]) => (a < b ? -1 : 1))) {
    if (tool.kind === "action") actions.push(buildAction(toolkit, name, tool, bindings));
    else triggers.push(buildTrigger(toolkit, name, tool, bindings));
    yield;
  }
  const address = toolkit.mcp?.url ?? toolkit.baseUrl ?? "";
  const baseUrl = fillInDeployment(address, values);
  const { always = {} } = toolkit;
  return {
    slug: toolkit.slug,
    ownerProjectId,
    originDigest: createHash("sha256")
      .update(JSON.stringify([address, toolkit.auth]))
      .digest("hex"),
    ...(isLive === true && isBound({ baseUrl }) && { isLive }),
    name: toolkit.name,
    description: toolkit.description.trim(),
    version: toolkit.version,
    category: toolkit.category,
    baseUrl,
    auth: toolkit.auth.map((scheme) => buildAuthScheme(scheme, values)),
    account: (toolkit.account ?? []).map(({ name, description, example = "", pattern }) => {
      const accepts = pattern === undefined ? () => true : formOf(pattern);
      return { name, description, example, accepts, decidesOrigin: decidesOrigin(baseUrl, name) };
    }),
    always: {
      headers: parseTemplateTree(always.headers ?? {}),
      query: parseTemplateTree(always.query ?? {}),
      body: parseTemplateTree(always.body ?? {}),
    },
    identify: toolkit.identify,
    rate: toolkit.rate && { max: toolkit.rate.max, perMs: parseDuration(toolkit.rate.per) },
    ...(ownerProjectId === "" && { questions: questionsOf(toolkit) }),
    webhook: toolkit.webhook && buildWebhook(toolkit.webhook, values.webhook?.audience ?? audience),
    actions,
    triggers,
    sayings: sayings && new Map(Object.entries(sayings)),
    codeTools: [],
  };
}

/**
 * Returns a function that is true if a value matches the pattern. The function compiles the pattern when it tests the first value. It is
 * false, without a test, for a value that is so long that matching could take too many steps.
 */
function formOf(pattern: string): (value: string) => boolean {
  let form: LinearRegExp | undefined;
  return (value) => {
    if (!isShortEnough(pattern, value)) return false;
    form ??= compileLinearRegExp(pattern);
    return form.test(value);
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
        ...(scheme.issuer !== undefined && { issuer: scheme.issuer }),
        ...(scheme.resource !== undefined && { resource: scheme.resource }),
        ...(scheme.clientId !== undefined && { clientId: scheme.clientId }),
      };
    case "api_key":
      return scheme.placement === "path" ? scheme : { ...scheme, value: parseTemplateTree(scheme.value) };
    case "basic":
      return {
        type: scheme.type,
        ...(scheme.place && {
          place: scheme.place.map((place) => ({ ...place, value: parseTemplateTree(place.value) })),
        }),
      };
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
  return {
    ...compileVerifier(document),
    ...compileHandshakes(document),
    secretEnv: document.secretEnv ?? "",
    audience,
    body: buildBodyRule(document),
    ignores: (post) => ignored.some((matches) => matches(post)),
  };
}

/**
 * Returns the rule for reading the bodies of an app's webhook posts: their form, the kind of content (default `json`), and the list whose
 * elements are separate posts.
 */
function buildBodyRule({ form, each, content }: BodyDocument): BodyRule {
  return { form, content: content ?? "json", each: each?.split(".").slice(1) };
}

function buildDefinition(toolkit: ToolkitDocument, name: string, document: ToolDocument, bindings: Bindings) {
  const { values, ownerProjectId = "" } = bindings;
  return {
    slug: `${toolkit.slug}.${name}`,
    name,
    toolkitSlug: toolkit.slug,
    ownerProjectId,
    scopes: (document.scopes ?? []).map((scope) => fillInDeployment(scope, values)),
    description: document.description.trim(),
    intents: document.intents ?? [],
    outputSchema: document.output,
  } satisfies Partial<ToolDefinition>;
}

function buildAction(toolkit: ToolkitDocument, name: string, document: ActionDocument, bindings: Bindings): Action {
  const { mcp } = document;
  const request = mcp === undefined ? document.request : mcpRequest(mcp, document.input);
  const response = (mcp === undefined ? document.response : mcpResponse) ?? {};
  if (request === undefined) throw new Error(`the definition of ${toolkit.slug}.${name} has no request`);
  const { validators = createValidator } = bindings;
  const inputSchema = document.class === "destructive" ? withConfirm(document.input, confirmProperty) : document.input;
  return {
    ...buildDefinition(toolkit, name, document, bindings),
    kind: "action",
    class: document.class,
    ...callabilityOf(document),
    inputSchema,
    idempotency: document.idempotency,
    ...(mcp !== undefined && { mcp: { tool: mcp.tool, digest: mcp.digest } }),
    request: {
      method: request.method,
      path: parseTemplateTree(request.path),
      query: parseTemplateTree(request.query ?? {}),
      headers: parseTemplateTree(request.headers ?? {}),
      body: request.body === undefined ? undefined : parseTemplateTree(request.body),
      ...(request.encoding === "form" && { encoding: request.encoding }),
      ...(request.emptyBody !== undefined && { emptyBody: request.emptyBody }),
    },
    response: {
      ...(response.as !== undefined && { as: response.as }),
      unwrap: response.unwrap ?? "",
      under: response.under ?? "",
      empty: response.empty,
      error: response.error,
    },
    paging: document.paging,
    poll: document.poll,
    replacedBy: document.replacedBy === undefined ? undefined : `${toolkit.slug}.${document.replacedBy}`,
    validateInput: validators(inputSchema),
    validateOutput: validators(withNulls(document.output)),
  };
}

function callabilityOf({ callable = true, uncallableReason }: ActionDocument) {
  return { callable, uncallableReason: callable ? "" : (uncallableReason ?? "Its definition only describes it.") };
}

const confirmProperty: JsonSchema = {
  type: "boolean",
  default: false,
  description: "Set to true to carry the call out. Without it the call is held and nothing is changed.",
};

function buildTrigger(toolkit: ToolkitDocument, name: string, document: TriggerDocument, bindings: Bindings): Trigger {
  return {
    ...buildDefinition(toolkit, name, document, bindings),
    kind: "trigger",
    class: "read",
    callable: false,
    uncallableReason: "It is a trigger: the app sends its events, and subscriptions receive them.",
    inputSchema: { type: "object", properties: {}, additionalProperties: false },
    readsBody: readsBody(document),
    namesAccount: (document.account ?? document.entity) !== undefined,
    matches: compileMatch(document.match),
    normalize: compileNormalize(document, bindings.validators),
    sample: (nowMs) => samplePost(document, nowMs, toolkit.webhook?.each?.split(".")),
  };
}

function readsBody({ match, payload, account, entity, dedupe, occurredAt }: TriggerDocument): boolean {
  const tree = parseTemplateTree({ payload, account, entity, dedupe, occurredAt });
  const isOfBody = (root: string) => root === "body" || root === "item";
  return Object.keys(match).some(isOfBody) || placeholdersOfTree(tree).some(([{ root }]) => isOfBody(root));
}
