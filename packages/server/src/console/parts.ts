import { builtFolder } from "@svc/console";
import type { Clock } from "@svc/core";
import type { Database } from "@svc/db/connect";
import type { Node } from "@svc/node";
import type { AuditLog } from "../audit/log.ts";
import type { KeyCache } from "../auth/key-cache.ts";
import type { KeyUse } from "../auth/key-use.ts";
import type { Config } from "../config/settings.ts";
import type { Connections } from "../listen/connections.ts";
import { publicPath } from "../pages/page-headers.ts";
import type { People } from "../people/people.ts";
import { type Console, createConsole } from "./console.ts";
import { consolePath, portalPath } from "./headers.ts";
import type { PageCallOptions } from "./page-call.ts";
import { type ConsoleOrigin, createConsoleOrigin } from "./proof.ts";
import { type BuiltConsole, readConsole } from "./read-files.ts";
import { createSessions, type Sessions } from "./sessions.ts";
import type { SignInLimit } from "./sign-in-limit.ts";

/** Objects that a server needs for its console: the built pages, the sessions and the origin (scheme, host and port). */
export type ConsoleParts = {
  readonly built: BuiltConsole;
  readonly sessions: Sessions;
  readonly origin: ConsoleOrigin;
};

/**
 * Returns the built pages of the console, read from `folder`. The default is the folder into which svc's own build writes them. Undefined
 * if this node does not serve the console.
 */
export async function readBuiltConsole(
  { isConsoleOn, role, publicUrl, sandboxMode, oidc }: Config,
  folder: string = builtFolder,
): Promise<BuiltConsole | undefined> {
  if (!isConsoleOn || role === "worker") return undefined;
  return readConsole(folder, {
    ...{ base: publicPath(publicUrl, consolePath), portalBase: publicPath(publicUrl, portalPath) },
    ...{ isSandbox: sandboxMode !== "off", hasCompanyAccounts: oidc !== undefined },
  });
}

/** Creates the parts of the console that the API calls need as well: the sign-in sessions and the check of a request's origin. */
export function createConsoleParts({
  config,
  publicUrl,
  built,
  ...store
}: {
  config: Config;
  publicUrl: () => string;
  built: BuiltConsole;
  db: Database;
  clock: Clock;
  use: KeyUse;
}): ConsoleParts {
  const { db, clock, use } = store;
  const { adminToken, adminListen, sessionMaxMs: lifeMs } = config;
  const hasAdministrators = config.oidc !== undefined && adminListen === undefined;
  return {
    built,
    sessions: createSessions({ db, clock, use, adminToken, hasAdministrators, lifeMs }),
    origin: createConsoleOrigin({ publicUrl, isTls: config.tls !== undefined }),
  };
}

/** The parts of the server on which the console depends. */
type ServingOptions = Omit<PageCallOptions, "origin"> & {
  readonly config: Config;
  readonly console: ConsoleParts | undefined;
  readonly db: Database;
  readonly clock: Clock;
  readonly keys: KeyCache;
  readonly limit: SignInLimit;
  readonly connections: Connections;
  readonly node: Node;
  readonly audit: AuditLog;
  /** The people who sign in with company accounts. Undefined if there is no identity provider. */
  readonly people: People | undefined;
  readonly publicUrl: () => string;
};

/**
 * Creates the console; undefined if it is disabled. If administration has its own listener, signing in to this console with the
 * administrator's token is not possible.
 */
export function openConsole({
  config,
  console,
  connections,
  node,
  people,
  publicUrl,
  ...parts
}: ServingOptions): Console | undefined {
  if (console === undefined) return undefined;
  const { db, clock, keys, limit, intake, mapError, audit } = parts;
  return createConsole({
    ...{ db, clock, keys, limit, intake, mapError, audit, ...console },
    base: publicPath(config.publicUrl, consolePath),
    ...{ cell: config.cell, root: publicPath(config.publicUrl, "") },
    answerLinks: node.jobs.answerLinks,
    connectLinks: node.connectLinks,
    adminToken: config.adminListen === undefined ? config.adminToken : undefined,
    addressOf: connections.addressOf,
    signOutUrl: people && ((id) => people.signOutUrl(id, `${publicUrl()}${consolePath}`)),
  });
}
