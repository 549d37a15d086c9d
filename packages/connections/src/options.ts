import type { Action, CatalogViews, Toolkit } from "@svc/catalog";
import type { AddressGuard, Clock, ProjectPrincipal, Sealer } from "@svc/core";
import type { Database } from "@svc/db/connect";
import type { ConnectedAccount } from "@svc/db/connections/account";
import type { AppTransport } from "./app-transport.ts";
import type { PartyFetch } from "./token-fetch.ts";

/** The deployment's OAuth clients, and how token endpoints are reached. */
export type OauthOptions = {
  /** The deployment's client of a toolkit and where it works; undefined when it holds none. */
  clientOf(toolkit: Toolkit):
    | {
        readonly clientId: string;
        readonly clientSecret: string;
        readonly authorizeUrl: string;
        readonly tokenUrl: string;
      }
    | undefined;
  /** Posts to token endpoints: the network transport's guarded `fetch`, or the sandbox's. */
  readonly fetch: PartyFetch;
};

/** What connections work with. */
export type ConnectionsOptions = {
  readonly views: CatalogViews;
  readonly db: Database;
  readonly clock: Clock;
  /** Seals credentials, states of consents and page tokens. */
  readonly sealer: Sealer;
  /** Judges the addresses that account variables make. */
  readonly guard: AddressGuard;
  /** Whether the deployment holds an OAuth client for the toolkit. Asked at every call, so it may change its mind. */
  readonly isOauthRegistered: (toolkit: Toolkit) => boolean;
  readonly transport: AppTransport;
  /** Where this service is reached (SVC_PUBLIC_URL); consents come back below it. Asked at each use: a port may be known late. */
  readonly publicUrl: () => string;
  /** The address of the console, with a slash at its end; undefined where none is served. */
  readonly consoleUrl?: (() => string) | undefined;
  /** Whether the transport is the sandbox: then credentials may be left out. */
  readonly isSandbox: boolean;
  readonly oauth: OauthOptions;
};

/** A read by which an account's credential is tried. */
export type TestReadRequest = {
  readonly principal: ProjectPrincipal;
  readonly toolkit: Toolkit;
  readonly action: Action;
  readonly args: Readonly<Record<string, unknown>>;
  readonly account: Pick<ConnectedAccount, "id" | "entityId">;
};

/** The result of such a read. `providerStatus` is 0 if the app did not answer; `saysError`: a 2xx answer says that the call failed. */
export type TestReadResult = {
  readonly callId: string;
  readonly isOk: boolean;
  readonly message: string;
  readonly providerStatus: number;
  readonly saysError: boolean;
};

/** Makes a read as CallTool makes it: with its checks, limits and record. Rejects with its refusals. */
export type TestRead = (request: TestReadRequest) => Promise<TestReadResult>;
