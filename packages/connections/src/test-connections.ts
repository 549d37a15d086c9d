import type { DescService } from "@bufbuild/protobuf";
import {
  type Client,
  Code,
  ConnectError,
  createClient,
  createRouterTransport,
  type ServiceImpl,
} from "@connectrpc/connect";
import { type CatalogViews, createCatalogService, createCatalogViews, type Toolkit } from "@svc/catalog";
import { catalogOf } from "@svc/catalog/testing";
import {
  type AddressGuard,
  type Clock,
  createAddressGuard,
  createId,
  createSealer,
  generateVaultKey,
  type ProjectId,
  parseVaultKeys,
  principalContext,
  type Role,
  type Sealer,
} from "@svc/core";
import { createTestClock, type TestClock } from "@svc/core/testing";
import { createProject, type Database } from "@svc/db";
import { createTestDatabase } from "@svc/db/testing";
import { CatalogService } from "@svc/gen/catalog";
import { ConnectionsService } from "@svc/gen/connections";
import { ErrorDetailSchema } from "@svc/gen/errors";
import { createAccountAccess } from "./access.ts";
import type { AccountAccess, AccountFault, CallableAccount } from "./account-access.ts";
import type { AppRequest } from "./app-transport.ts";
import { createAppTransport, type NetworkTransport } from "./network-transport.ts";
import { createOauthPages, type OauthPages } from "./oauth-flow.ts";
import type { ConnectionsOptions } from "./options.ts";
import { createConnectionsService } from "./service.ts";
import { startTestApp, type TestApp, testClient } from "./test-app.ts";
import { testDeployment, testToolkits } from "./test-toolkits.ts";

/** A store, an app, and connections between them. */
export type TestConnections = AsyncDisposable & {
  readonly db: Database;
  readonly url: string;
  readonly clock: TestClock;
  readonly sealer: Sealer;
  readonly guard: AddressGuard;
  readonly views: CatalogViews;
  readonly app: TestApp;
  readonly transport: NetworkTransport;
  readonly options: ConnectionsOptions;
  readonly access: AccountAccess;
  readonly pages: OauthPages;
  project(): Promise<ProjectId>;
  client(projectId: ProjectId, role?: Role, changes?: Partial<ConnectionsOptions>): Client<typeof ConnectionsService>;
  toolkit(slug: string): Toolkit;
  /** Publishes a private definition for a project, and answers it. */
  publish(projectId: ProjectId, definitionJson: string): Promise<Toolkit>;
};

/** Where the tests' service is reached. */
export const publicUrl = "https://svc.example.com";

/** Makes them on a database of their own; the clock stands still until the test moves it. */
export async function createTestConnections(changes: Partial<ConnectionsOptions> = {}): Promise<TestConnections> {
  const database = await createTestDatabase();
  const { db, url } = database;
  const clock = createTestClock();
  const app = await startTestApp();
  const guard = createAddressGuard({ allowedRanges: ["127.0.0.1/32"] });
  const transport = createAppTransport({ guard });
  const catalog = catalogOf({ toolkits: testToolkits, deployment: testDeployment(app.url) });
  const onBroken = (_project: ProjectId, _slug: string, error: Error) => {
    throw error;
  };
  const views = createCatalogViews({ catalog, db, clock, onBroken });
  const sealer = createSealer(parseVaultKeys(generateVaultKey()));
  const clientOf = ({ slug, ownerProjectId }: Toolkit) =>
    ownerProjectId === "" && ["tracker", "brief"].includes(slug)
      ? { ...testClient, authorizeUrl: `${app.url}/authorize?prompt=consent`, tokenUrl: `${app.url}/token` }
      : undefined;
  const options: ConnectionsOptions = {
    views,
    db,
    clock,
    sealer,
    guard,
    isOauthRegistered: (toolkit) => clientOf(toolkit) !== undefined,
    transport,
    publicUrl: () => publicUrl,
    isSandbox: false,
    oauth: { clientOf, fetch: transport.fetch },
    ...changes,
  };
  let projects = 0;
  return {
    ...{ db, url, clock, sealer, guard, views, app, transport, options },
    access: createAccountAccess(options),
    pages: createOauthPages(options),
    project: async () => (await createProject(db, `project-${++projects}`, clock.now())).id,
    client: (projectId, role = "approver", different = {}) =>
      createProjectClient(ConnectionsService, createConnectionsService({ ...options, ...different }), projectId, role),
    toolkit: (slug) => catalog.toolkits.get(slug) as Toolkit,
    async publish(projectId, definitionJson) {
      const service = createCatalogService({ views, sealer, isOauthRegistered: () => false });
      const client = createProjectClient(CatalogService, service, projectId, "approver");
      const { toolkit } = await client.publishToolkit({ definitionJson });
      return (await views.forProject(projectId)).toolkits.get(toolkit?.slug ?? "") as Toolkit;
    },
    async [Symbol.asyncDispose]() {
      await transport.close();
      await app[Symbol.asyncDispose]();
      await database.drop();
    },
  };
}

/** The auth gate's part is played by an interceptor: it names the calling project. */
function createProjectClient<Service extends DescService>(
  service: Service,
  implementation: ServiceImpl<Service>,
  projectId: ProjectId,
  role: Role,
): Client<Service> {
  const keyId = createId("key", 0);
  const transport = createRouterTransport(({ service: register }) => register(service, implementation), {
    router: {
      interceptors: [
        (next) => (req) => {
          req.contextValues.set(principalContext, { kind: "project", projectId, keyId, role });
          return next(req);
        },
      ],
    },
  });
  return createClient(service, transport);
}

/** How a call was refused, once it was; a call that succeeds is a fault of the test. */
export async function refusalOf(call: Promise<unknown>): Promise<{ code: string; reason: string; field: string }> {
  const error = await call.then(
    () => undefined,
    (cause: unknown) => ConnectError.from(cause),
  );
  if (error === undefined) throw new Error("the call was not refused");
  const [detail] = error.findDetails(ErrorDetailSchema);
  if (detail === undefined) throw error;
  return { code: Code[error.code], reason: detail.reason, field: detail.field };
}

/** A request of a call before its credential is placed. */
export const bareRequest: AppRequest = {
  method: "GET",
  url: "https://app.example.com/me?page=1",
  headers: { accept: "application/json" },
  body: undefined,
};

/** The account of a resolve that found one. */
export function accountOf(found: CallableAccount | AccountFault): CallableAccount {
  if ("kind" in found) throw new Error(`${found.kind}: ${found.message}`);
  return found;
}

/** Connects an entity to the tracker over OAuth as a browser would, and answers the account's id. */
export async function connectOverOauth(
  test: TestConnections,
  projectId: ProjectId,
  { entityId = "ada", toolkitSlug = "tracker" } = {},
): Promise<string> {
  const started = await test.client(projectId).initiateConnection({ toolkitSlug, entityId, scheme: "oauth2" });
  const browser = await test.pages.handleOauthStart(new URL(started.authorizeUrl), {});
  const cookie = (browser.headers["set-cookie"] ?? "").split(";")[0];
  const back = test.app.consent(browser.headers["location"] ?? "");
  const answer = await test.pages.handleOauthCallback(back, { cookie });
  if (answer.status !== 200) throw new Error(`the callback answered ${answer.status}`);
  return started.account?.id ?? "";
}

/** A clock that runs, moved by what the test clock was: for waits that are real. */
export function runningClock(base: Clock): Clock {
  return { now: base.now, wait: (ms, signal) => new Promise((resolve) => realWait(ms, signal, resolve)) };
}

function realWait(ms: number, signal: AbortSignal | undefined, resolve: () => void): void {
  const timer = setTimeout(resolve, ms);
  signal?.addEventListener("abort", () => {
    clearTimeout(timer);
    resolve();
  });
}
