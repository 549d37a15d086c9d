import type { ServiceImpl } from "@connectrpc/connect";
import type { ConnectionsService } from "@svc/gen/connections";
import { accountMethods } from "./service/accounts.ts";
import { createConnectLink } from "./service/connect-link.ts";
import { initiateConnection } from "./service/initiate.ts";
import { projectCredentialMethods } from "./service/project-credential.ts";
import type { TestConnectionContext } from "./service/try-connection.ts";

/** ConnectionsService over the vault; every method takes its project from the calling key. */
export function createConnectionsService(options: TestConnectionContext): ServiceImpl<typeof ConnectionsService> {
  return {
    initiateConnection: (request, ctx) => initiateConnection(options, request, ctx),
    createConnectLink: (request, ctx) => createConnectLink(options, request, ctx),
    ...accountMethods(options),
    ...projectCredentialMethods(options),
  };
}
