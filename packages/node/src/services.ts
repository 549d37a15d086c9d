import type { ConnectRouter } from "@connectrpc/connect";
import { type CatalogViews, createCatalogService, type ToolkitImporter } from "@svc/catalog";
import { createConnectionsService, createSecretsService } from "@svc/connections";
import { CatalogService } from "@svc/gen/catalog";
import { ConnectionsService } from "@svc/gen/connections";
import { ContactsService } from "@svc/gen/contacts";
import { JobsService } from "@svc/gen/jobs";
import { SandboxService } from "@svc/gen/sandbox";
import { SecretsService } from "@svc/gen/secrets";
import { StandingService } from "@svc/gen/standing";
import { ToolsService } from "@svc/gen/tools";
import { TriggersService } from "@svc/gen/triggers";
import type { Jobs } from "@svc/jobs";
import type { StandingParts } from "@svc/standing";
import { createAvailabilityFinder, createToolsService, type ToolFinder } from "@svc/tools";
import { createTriggersService, type TriggersContext } from "@svc/triggers";
import type { Apps } from "./apps.ts";
import type { NodeParts } from "./parts.ts";
import { createSandboxService } from "./sandbox-service.ts";

/**
 * Adds the services of the domains to a router: catalog, connections, secrets, tools, triggers, jobs, contacts, standing programs
 * (schedules) and the sandbox.
 */
export type RegisterServices = (router: ConnectRouter) => void;

/** Dependencies of a node's services. */
export type ServicesOptions = NodeParts & {
  readonly views: CatalogViews;
  readonly apps: Apps;
  readonly jobs: Jobs;
  readonly standing: StandingParts;
  readonly triggers: TriggersContext;
  readonly finder: ToolFinder;
  /** Makes toolkits from API documents and MCP servers. */
  readonly importer: ToolkitImporter;
  /** Time in milliseconds after which svc reads the tools of an imported MCP server again. */
  readonly mcpEveryMs: number;
};

/**
 * Returns the function that adds the API services of a node to a router. The services of all routers share the database, the engines and
 * the caches of the node.
 */
export function createServices({
  views,
  apps,
  jobs,
  standing,
  triggers,
  finder,
  importer,
  mcpEveryMs,
  ...parts
}: ServicesOptions): RegisterServices {
  const { db, clock, sealer, sandboxMode, publicUrl, consoleUrl } = parts;
  const { isOauthRegistered } = apps;
  return (router) => {
    const catalog = { db, clock, views, sealer, isOauthRegistered, sandboxMode, importer, mcpEveryMs };
    router.service(CatalogService, createCatalogService(catalog));
    const connections = { ...apps, views, db, clock, sealer, sandboxMode, publicUrl, consoleUrl };
    const connectionMethods = createConnectionsService(connections);
    router.service(ConnectionsService, connectionMethods);
    router.service(SecretsService, createSecretsService({ db, clock, sealer }));
    router.service(
      ToolsService,
      createToolsService({
        ...apps,
        views,
        db,
        sealer,
        clock,
        finder,
        findAvailability: createAvailabilityFinder(parts),
      }),
    );
    router.service(JobsService, jobs.jobsService);
    router.service(ContactsService, jobs.contactsService);
    router.service(StandingService, standing.standingService);
    const triggerMethods = createTriggersService(triggers);
    router.service(TriggersService, triggerMethods);
    router.service(SandboxService, createSandboxService({ ...parts, apps, triggers, connectionMethods }));
  };
}
