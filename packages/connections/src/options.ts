import type { Action, CatalogViews, SandboxMode, Toolkit } from "@svc/catalog";
import type { AddressGuard, Clock, ProjectId, ProjectPrincipal, Sealer } from "@svc/core";
import type { Database } from "@svc/db/connect";
import type { ConnectedAccount } from "@svc/db/connections/account";
import type { AppTransport } from "./app-transport.ts";
import type { PartyFetch } from "./token-fetch.ts";

/** The OAuth client for a toolkit's app, with the app's addresses. */
export type ToolkitOauthClient = {
  readonly clientId: string;
  /** Secret of the client. Empty for a client without a secret. */
  readonly clientSecret: string;
  /** Place of the secret in a token request: the Authorization header or the form. Default: svc tries both. */
  readonly secretPlace?: "basic" | "post" | null;
  /**
   * Issuer at which a project itself has the client. Its consents come back to a callback address of this issuer. Undefined for a client of
   * the deployment.
   */
  readonly issuer?: string | undefined;
  readonly authorizeUrl: string;
  readonly tokenUrl: string;
  /** Resource for which tokens are requested (RFC 8707). Default: none. */
  readonly resource?: string | undefined;
};

/**
 * Result of reading the metadata of an OAuth issuer: `found` with its token endpoint, or the reason why svc cannot use it, as the end of a
 * sentence. `secretPlace`: the place in a token request in which the issuer wants a client's secret; null if it takes no secret there.
 * `namesItself`: true if the issuer's answers to a consent have the parameter `iss` (RFC 9207).
 */
export type IssuerReading =
  | {
      readonly kind: "found";
      readonly tokenUrl: string;
      readonly secretPlace: "basic" | "post" | null;
      readonly namesItself: boolean;
    }
  | { readonly kind: "unusable"; readonly message: string };

/** The OAuth clients of toolkits, and the functions that send requests to issuers and their token endpoints. */
export type OauthOptions = {
  /** Returns the OAuth client for a toolkit's app. Resolves to undefined if there is none. */
  clientOf(toolkit: Toolkit): Promise<ToolkitOauthClient | undefined>;
  /**
   * Sends a form to an app's token endpoint. In the sandbox, svc answers the request itself. Otherwise the request goes over the network,
   * and the address guard checks its address.
   */
  readonly fetch: PartyFetch;
  /** Reads the metadata of an OAuth issuer for a project, over the network. The address guard checks each address. */
  readonly readIssuer: (issuer: string, projectId: ProjectId) => Promise<IssuerReading>;
};

/** Dependencies of the package `connections`: everything that the code about connected accounts needs. */
export type ConnectionsOptions = {
  readonly views: CatalogViews;
  readonly db: Database;
  readonly clock: Clock;
  /** Encrypts and decrypts credentials, consent states and page tokens. */
  readonly sealer: Sealer;
  /**
   * Decides if svc may connect to an address of an app. Account variables (values that a person enters when connecting an account) are a
   * part of such addresses, so each address is checked.
   */
  readonly guard: AddressGuard;
  /** True if there is an OAuth client for the toolkit's app. It is called for each request, because the result may change. */
  readonly isOauthRegistered: (toolkit: Toolkit) => boolean | Promise<boolean>;
  readonly transport: AppTransport;
  /**
   * Returns this service's address (SVC_PUBLIC_URL), to which apps send the browser after a consent. It is a function, because the port may
   * be known only after the server has started.
   */
  readonly publicUrl: () => string;
  /** Returns the console's address with a trailing slash. The property is undefined if svc serves no console. */
  readonly consoleUrl?: (() => string) | undefined;
  /**
   * For which toolkits (apps) svc plays the app itself. Callers may connect accounts of such a toolkit without a credential.
   */
  readonly sandboxMode: SandboxMode;
  readonly oauth: OauthOptions;
};

/** A read that tests an account's credential. */
export type TestReadRequest = {
  readonly principal: ProjectPrincipal;
  readonly toolkit: Toolkit;
  readonly action: Action;
  readonly args: Readonly<Record<string, unknown>>;
  readonly account: Pick<ConnectedAccount, "id" | "entityId">;
};

/**
 * Result of a read that tests a credential. `providerStatus`: the app's HTTP status; 0 if the app did not answer. `saysError`: true if a
 * 2xx answer reports a failed call.
 */
export type TestReadResult = {
  readonly callId: string;
  readonly isOk: boolean;
  readonly message: string;
  readonly providerStatus: number;
  readonly saysError: boolean;
};

/**
 * Reads data from an app in the same way as the API method CallTool: with the same checks and call limits, and with an entry in the ledger
 * (record of tool calls). Rejects with the errors of CallTool.
 */
export type TestRead = (request: TestReadRequest) => Promise<TestReadResult>;
