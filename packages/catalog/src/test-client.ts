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

/** Options of `createTestNode`. */
export type CatalogNodeOptions = {
  readonly toolkits?: readonly ToolkitSource[];
  readonly deployment?: object;
  /** A loaded catalog, instead of `toolkits` and `deployment`. */
  readonly catalog?: Catalog;
  readonly clock?: Clock;
  readonly isOauthRegistered?: CatalogServiceOptions["isOauthRegistered"];
};

/** A node with the catalog only. `broken`: stored definitions that it left out. */
export type CatalogNode = {
  readonly views: CatalogViews;
  readonly broken: Told["broken"];
  /** Returns a client with a key of the project. */
  clientOf(projectId: ProjectId): Client<typeof CatalogService>;
};

/** Creates a node on a database that others may share. Default: the sample toolkits, a fixed clock, no OAuth client. */
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
    else router.service(CatalogService, createCatalogService({ views, sealer, isOauthRegistered }));
  };
  return {
    views,
    broken: told.broken,
    clientOf: (projectId) => createProjectClient(CatalogService, registerOwn, { projectId, role: "member" }),
  };
}

/** Returns code, reason and field of a refused call. */
export async function refusalOf(call: Promise<unknown>): Promise<[Code, string | undefined, string | undefined]> {
  const error = await errorOf(call);
  const [detail] = error.findDetails(ErrorDetailSchema);
  return [error.code, detail?.reason, detail?.field];
}

/** Returns the error of a refused call; one with code Unknown if it was answered. */
export async function errorOf(call: Promise<unknown>): Promise<ConnectError> {
  return call.then(
    () => new ConnectError("answered", Code.Unknown),
    (reason: unknown) => ConnectError.from(reason),
  );
}
