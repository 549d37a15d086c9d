import { type Client, Code, ConnectError, type ConnectRouter } from "@connectrpc/connect";
import type { Clock, ProjectId } from "@svc/core";
import type { Database } from "@svc/db/connect";
import { CatalogService } from "@svc/gen/catalog";
import { ErrorDetailSchema } from "@svc/gen/errors";
import { catalogOf, type ToolkitSource } from "@svc/testing/catalog";
import { createTestClock } from "@svc/testing/clock";
import { createTestNode as createNode, type Told } from "@svc/testing/node";
import { createProjectClient } from "@svc/testing/project-client";
import { sampleToolkits } from "@svc/testing/sample-toolkits";
import type { Catalog } from "./model.ts";
import type { CatalogViews } from "./private/private-toolkits.ts";
import { type CatalogServiceOptions, createCatalogService } from "./service.ts";

/** Options of `createTestNode`, which creates a test node that has only the catalog. */
export type CatalogNodeOptions = {
  readonly toolkits?: readonly ToolkitSource[];
  readonly deployment?: object;
  /** A catalog that is already loaded. If a catalog is given, `toolkits` (folders of app definitions) and `deployment` are not used. */
  readonly catalog?: Catalog;
  readonly clock?: Clock;
  readonly isOauthRegistered?: CatalogServiceOptions["isOauthRegistered"];
};

/** A test node that has only the catalog. `broken`: stored definitions that the node left out because they are invalid. */
export type CatalogNode = {
  readonly views: CatalogViews;
  readonly broken: Told["broken"];
  /** Returns a client that calls with a key of this project. */
  clientOf(projectId: ProjectId): Client<typeof CatalogService>;
};

/**
 * Creates a test node on a database that other nodes may also use. Default: the sample toolkits (sample apps with tools and webhooks), a
 * clock that does not move, no OAuth client.
 */
export function createTestNode(db: Database, options: CatalogNodeOptions = {}): CatalogNode {
  const {
    toolkits = Object.values(sampleToolkits),
    deployment,
    clock = createTestClock(),
    isOauthRegistered,
  } = options;
  const { catalog = catalogOf({ toolkits, ...(deployment && { deployment }) }) } = options;
  const { views, parts, told, register } = createNode(db, { catalog, clock });
  const registerOwn = (router: ConnectRouter) => {
    const { sealer } = parts;
    if (isOauthRegistered === undefined) register(router);
    else
      router.service(
        CatalogService,
        createCatalogService({
          db,
          clock,
          views,
          sealer,
          isOauthRegistered,
          sandboxMode: "off",
          importer: notImported,
          mcpEveryMs: 1,
        }),
      );
  };
  return {
    views,
    broken: told.broken,
    clientOf: (projectId) => createProjectClient(CatalogService, registerOwn, { projectId, role: "member" }),
  };
}

const refuse = () => Promise.reject(new Error("this test imports nothing"));
const notImported = { convert: refuse, refresh: refuse, merge: refuse, check: refuse };

/** For tests: returns the code, the reason and the field of the error that a call returned. */
export async function refusalOf(call: Promise<unknown>): Promise<[Code, string | undefined, string | undefined]> {
  const error = await errorOf(call);
  const [detail] = error.findDetails(ErrorDetailSchema);
  return [error.code, detail?.reason, detail?.field];
}

/** Returns the error with which a call is refused. If the call succeeds, returns an error with code Unknown. */
export async function errorOf(call: Promise<unknown>): Promise<ConnectError> {
  return call.then(
    () => new ConnectError("answered", Code.Unknown),
    (reason: unknown) => ConnectError.from(reason),
  );
}
