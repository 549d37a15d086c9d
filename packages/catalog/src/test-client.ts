import { Code, ConnectError, createClient, createRouterTransport } from "@connectrpc/connect";
import {
  type Clock,
  createId,
  createSealer,
  type ProjectId,
  type ProjectPrincipal,
  parseVaultKeys,
  principalContext,
} from "@svc/core";
import { createTestClock } from "@svc/core/testing";
import type { Database } from "@svc/db";
import { CatalogService } from "@svc/gen/catalog";
import { ErrorDetailSchema } from "@svc/gen/errors";
import type { Catalog } from "./model.ts";
import { type CatalogViews, createCatalogViews } from "./private/private-toolkits.ts";
import { type CatalogServiceOptions, createCatalogService } from "./service.ts";
import { catalogOf, sampleToolkits, type ToolkitSource } from "./testing.ts";

/** Options of `createTestNode`. */
export type TestNodeOptions = {
  readonly toolkits?: readonly ToolkitSource[];
  readonly deployment?: object;
  /** Instead of `toolkits` and `deployment`: a catalog that is loaded already. */
  readonly catalog?: Catalog;
  readonly clock?: Clock;
  readonly isOauthRegistered?: CatalogServiceOptions["isOauthRegistered"];
};

/** A node of the service as far as the catalog goes. `broken` lists kept definitions that it left out. */
export type TestNode = {
  readonly views: CatalogViews;
  readonly broken: { projectId: ProjectId; slug: string; message: string }[];
  /** A client with a key of the project. */
  clientOf(projectId: ProjectId): ReturnType<typeof createClient<typeof CatalogService>>;
};

const sealer = createSealer(parseVaultKeys(`a:${Buffer.alloc(32, 7).toString("base64")}`));

/** A node over a database that others may share. Default: the sample toolkits, a clock that stands, no OAuth client. */
export function createTestNode(db: Database, options: TestNodeOptions = {}): TestNode {
  const { toolkits = Object.values(sampleToolkits), deployment, clock = createTestClock() } = options;
  const { catalog = catalogOf({ toolkits, ...(deployment && { deployment }) }) } = options;
  const broken: TestNode["broken"] = [];
  const views = createCatalogViews({
    catalog,
    db,
    clock,
    onBroken: (projectId, slug, { message }) => broken.push({ projectId, slug, message }),
  });
  const { isOauthRegistered = () => false } = options;
  const service = createCatalogService({ views, sealer, isOauthRegistered });
  const clientOf = (projectId: ProjectId) => {
    const principal: ProjectPrincipal = { kind: "project", projectId, keyId: createId("key", 1), role: "member" };
    const transport = createRouterTransport((router) => router.service(CatalogService, service), {
      router: {
        interceptors: [
          (next) => (request) => {
            request.contextValues.set(principalContext, principal);
            return next(request);
          },
        ],
      },
    });
    return createClient(CatalogService, transport);
  };
  return { views, broken, clientOf };
}

/** Code, reason and field of a refused call. */
export async function refusalOf(call: Promise<unknown>): Promise<[Code, string | undefined, string | undefined]> {
  const error = await errorOf(call);
  const [detail] = error.findDetails(ErrorDetailSchema);
  return [error.code, detail?.reason, detail?.field];
}

/** The error of a refused call; one of code Unknown when it was answered. */
export async function errorOf(call: Promise<unknown>): Promise<ConnectError> {
  return call.then(
    () => new ConnectError("answered", Code.Unknown),
    (reason: unknown) => ConnectError.from(reason),
  );
}
