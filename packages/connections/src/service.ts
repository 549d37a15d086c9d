import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { HandlerContext, ServiceImpl } from "@connectrpc/connect";
import { accountSidesOf, catalogFaults } from "@svc/catalog";
import { requireProject } from "@svc/core";
import { connectedAccountsForProject } from "@svc/db/connections/repo";
import {
  type ConnectionsService,
  type CreateConnectLinkRequest,
  type CreateConnectLinkResponse,
  CreateConnectLinkResponseSchema,
  type InitiateConnectionRequest,
  type InitiateConnectionResponse,
} from "@svc/gen/connections";
import { checkVariables } from "./check-variables.ts";
import { toConnectedAccount } from "./convert.ts";
import { definitionOf } from "./definition.ts";
import { connectionFaults } from "./errors.ts";
import type { ConnectionsOptions } from "./options.ts";
import { accountMethods } from "./service/accounts.ts";
import { activateOrRefuse } from "./service/activate-or-refuse.ts";
import { makeConnectLink } from "./service/connect-link.ts";
import { initiate } from "./service/initiate.ts";
import { checkSecret } from "./service/read-credential.ts";
import { toolkitClientMethods } from "./service/toolkit-client.ts";
import type { TestConnectionContext } from "./service/try-connection.ts";

/**
 * Creates ConnectionsService, the API service that connects accounts and stores their credentials encrypted in the vault. Every method
 * takes its project from the calling key.
 */
export function createConnectionsService(options: TestConnectionContext): ServiceImpl<typeof ConnectionsService> {
  return {
    initiateConnection: (request, ctx) => initiateConnection(options, request, ctx),
    createConnectLink: (request, ctx) => createConnectLink(options, request, ctx),
    ...accountMethods(options),
    ...projectCredentialMethods(options),
    ...toolkitClientMethods(options),
  };
}

type Methods = Pick<ServiceImpl<typeof ConnectionsService>, "setProjectCredential" | "deleteProjectCredential">;

/** Returns the methods of ConnectionsService for the project's own credentials. */
function projectCredentialMethods(options: ConnectionsOptions): Methods {
  const { views, db, clock, guard, sandboxMode } = options;
  return {
    async setProjectCredential({ toolkitSlug, clientId, clientSecret, accountVariables }, ctx) {
      const { projectId } = requireProject(ctx);
      const view = await views.forProject(projectId);
      const toolkit = view.toolkits.get(toolkitSlug);
      if (toolkit === undefined) throw catalogFaults.TOOLKIT_NOT_FOUND("toolkitSlug", toolkitSlug, view);
      const scheme = "client_credentials";
      if (!toolkit.auth.some(({ type }) => type === scheme))
        throw connectionFaults.SCHEME_NOT_DECLARED("toolkitSlug", scheme, toolkit);
      if (clientId === "") throw connectionFaults.CREDENTIAL_MISSING("clientId", scheme);
      if (clientSecret === "") throw connectionFaults.CREDENTIAL_MISSING("clientSecret", scheme);
      checkSecret("clientId", clientId);
      checkSecret("clientSecret", clientSecret);
      checkVariables(toolkit, accountVariables, guard);
      const credential = { scheme, client_id: clientId, client_secret: clientSecret } as const;
      const row = await activateOrRefuse(options, {
        projectId,
        toolkit,
        entityId: "",
        variables: accountVariables,
        credential,
        isTaken: false,
      });
      return { account: toConnectedAccount(row, clock.now()) };
    },
    async deleteProjectCredential({ toolkitSlug }, ctx) {
      const { projectId } = requireProject(ctx);
      const toolkit = (await views.forProject(projectId)).toolkits.get(toolkitSlug);
      // If the toolkit was removed or is hidden, its credential may still be stored. So it is erased for both definitions with this slug,
      // the private and the shared one.
      const definitions =
        toolkit === undefined
          ? [true, false].flatMap((isPrivate) =>
              accountSidesOf(sandboxMode).map((isSandbox) => ({ toolkitSlug, isPrivate, isSandbox })),
            )
          : [definitionOf(toolkit, sandboxMode)];
      const accounts = connectedAccountsForProject(db, projectId);
      let isErased = false;
      for (const definition of definitions) {
        const row = await accounts.findOwn(definition);
        if (row !== undefined && (await accounts.revoke(row.id, clock.now()))) isErased = true;
      }
      if (!isErased) throw connectionFaults.PROJECT_CREDENTIAL_NOT_FOUND(toolkitSlug);
      return {};
    },
  };
}

/**
 * Creates a connect link: a link with which an entity (customer or user) connects an account in the browser. Implements the API method
 * CreateConnectLink.
 */
async function createConnectLink(
  options: ConnectionsOptions,
  request: CreateConnectLinkRequest,
  ctx: HandlerContext,
): Promise<CreateConnectLinkResponse> {
  const { url, expiresAt } = await makeConnectLink(options, requireProject(ctx), request);
  return create(CreateConnectLinkResponseSchema, { url, expiresAt: timestampFromMs(expiresAt) });
}

/** Connects an account, or begins the OAuth consent for it. Implements the API method InitiateConnection. */
function initiateConnection(
  options: ConnectionsOptions,
  request: InitiateConnectionRequest,
  ctx: HandlerContext,
): Promise<InitiateConnectionResponse> {
  return initiate(options, request, requireProject(ctx));
}
