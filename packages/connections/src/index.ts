export { createAccountAccess } from "./access.ts";
export type { AccountAccess, AccountFault, AccountQuery, CallableAccount, SeenAccounts } from "./account-access.ts";
export type { AppAnswer, AppCall, AppRequest, AppTransport, ResultImage } from "./app-transport.ts";
export {
  createDeploymentSecrets,
  type DeploymentSecrets,
  deploymentSecretNames,
  isDeploymentSecretName,
  isDeploymentSecretValue,
} from "./deployment-secrets.ts";
export { connectionFaults } from "./errors.ts";
export { clientDocument, clientDocumentsPath, createIssuerReader, discoverOpenId } from "./mcp/discover.ts";
export { createMcpReader } from "./mcp/read-server.ts";
export type { UpstreamRequest } from "./mcp/session.ts";
export { createMcpTransport } from "./mcp/transport.ts";
export { createAppTransport, type NetworkTransport } from "./network-transport.ts";
export {
  createOauthPages,
  type EnterConsent,
  type OauthPages,
  type OauthPagesOptions,
  type OauthRequestHeaders,
} from "./oauth-flow.ts";
export type { OauthAnswer } from "./oauth-page.ts";
export type { RenewalObservation, RenewalObserver } from "./observer.ts";
export type { ConnectionsOptions, OauthOptions, TestRead, ToolkitOauthClient } from "./options.ts";
export { createRefresher, type Refresher, type RefresherOptions } from "./refresher.ts";
export type { RenewalOptions } from "./renewal.ts";
export { createSecretVault, isSecretName, type SecretVault } from "./secrets.ts";
export {
  type ConnectLinks,
  type ConnectLinkTarget,
  createConnectLinks,
  makeConnectLink,
} from "./service/connect-link.ts";
export { createSecretsService } from "./service/secrets.ts";
export { createConnectionsService } from "./service.ts";
export { requestToken } from "./token-endpoint.ts";
export type { PartyFetch, TokenFetch } from "./token-fetch.ts";
export { createToolkitClients } from "./toolkit-clients.ts";
export { createTracedTransport } from "./traced-transport.ts";
