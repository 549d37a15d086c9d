import { create, type MessageInitShape } from "@bufbuild/protobuf";
import {
  type AccountVariableSpecSchema,
  ToolKind,
  type ToolkitAuthSchemeSpecSchema,
  ToolkitConnectability,
  type ToolkitConnectSpec,
  ToolkitConnectSpecSchema,
  type Toolkit as ToolkitMessage,
  ToolkitSchema,
  type Tool as ToolMessage,
  ToolSchema,
} from "@svc/gen/catalog";
import type { AccountVariable, AuthScheme, Tool, Toolkit } from "./model.ts";

const kinds = { action: ToolKind.ACTION, trigger: ToolKind.TRIGGER, code: ToolKind.CODE } as const;

/** A tool's message. It takes tens of microseconds, for the schemas' text, so it is made once. */
export function toToolMessage(tool: Tool): ToolMessage {
  return create(ToolSchema, {
    slug: tool.slug,
    toolkitSlug: tool.toolkitSlug,
    kind: kinds[tool.kind],
    description: tool.description,
    inputSchemaJson: JSON.stringify(tool.inputSchema),
    outputSchemaJson: JSON.stringify(tool.outputSchema),
    requiredScopes: [...tool.scopes],
    accessClass: tool.class,
    callable: tool.callable,
    uncallableReason: tool.uncallableReason,
    ownerProjectId: tool.ownerProjectId,
    pagingJson: tool.kind === "action" && tool.paging !== undefined ? JSON.stringify(tool.paging) : "",
    replacedBy: tool.kind === "action" ? (tool.replacedBy ?? "") : "",
    pollJson: tool.kind === "action" && tool.poll !== undefined ? JSON.stringify(tool.poll) : "",
  });
}

/** A toolkit's message on a deployment that holds an OAuth registration for it, or does not. */
export function toToolkitMessage(toolkit: Toolkit, isOauthRegistered: boolean): ToolkitMessage {
  const connectability = connectabilityOf(toolkit.auth, isOauthRegistered);
  return create(ToolkitSchema, {
    slug: toolkit.slug,
    name: toolkit.name,
    description: toolkit.description,
    version: toolkit.version,
    authSchemes: toolkit.auth.map(({ type }) => type),
    category: toolkit.category,
    ownerProjectId: toolkit.ownerProjectId,
    connectable:
      connectability === ToolkitConnectability.READY || connectability === ToolkitConnectability.OAUTH_PENDING,
    connectability,
  });
}

/** `client_credentials` makes no connected account, so it does not count; alone, it leaves nothing to connect. */
function connectabilityOf(auth: readonly AuthScheme[], isOauthRegistered: boolean): ToolkitConnectability {
  // Skills are called without an account: there is nothing to connect, and nothing that would make it connectable.
  if (auth.length === 0) return ToolkitConnectability.UNSPECIFIED;
  const needsRegistration = auth.some(({ type }) => type === "oauth2") && !isOauthRegistered;
  const connectsNow = auth.some(({ type }) => {
    return type === "oauth2" ? isOauthRegistered : type !== "client_credentials";
  });
  if (!connectsNow) return ToolkitConnectability.NEEDS_OAUTH_REGISTRATION;
  return needsRegistration ? ToolkitConnectability.OAUTH_PENDING : ToolkitConnectability.READY;
}

/** What a connect form needs: no credential, and no address that one is presented to. */
export function toConnectSpec(toolkit: Toolkit): ToolkitConnectSpec {
  return create(ToolkitConnectSpecSchema, {
    toolkitSlug: toolkit.slug,
    baseUrlTemplate: toolkit.baseUrl,
    accountVariables: toolkit.account.map(toAccountVariableSpec),
    authSchemes: toolkit.auth.filter(({ type }) => type !== "client_credentials").map(toAuthSchemeSpec),
  });
}

function toAccountVariableSpec(variable: AccountVariable): MessageInitShape<typeof AccountVariableSpecSchema> {
  const { name, description, example, decidesOrigin } = variable;
  return { name, description, example, decidesOrigin };
}

function toAuthSchemeSpec(scheme: AuthScheme): MessageInitShape<typeof ToolkitAuthSchemeSpecSchema> {
  switch (scheme.type) {
    case "oauth2":
      return { type: scheme.type, defaultScopes: [...scheme.defaultScopes] };
    case "api_key":
      return { type: scheme.type, keyPlacement: scheme.placement, keyName: scheme.name };
    default:
      return { type: scheme.type };
  }
}
