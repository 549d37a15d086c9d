import type { ConnectRouter } from "@connectrpc/connect";
import { type CatalogViews, createCatalogService, createToolkitImporter, type ReadSource } from "@svc/catalog";
import { type AppAnswer, createConnectionsService, createSecretsService } from "@svc/connections";
import type { ThreadPool } from "@svc/core";
import { CatalogService } from "@svc/gen/catalog";
import { ConnectionsService } from "@svc/gen/connections";
import { ContactsService } from "@svc/gen/contacts";
import { JobsService } from "@svc/gen/jobs";
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

/**
 * Adds the services of the domains to a router: catalog, connections, secrets, tools, triggers, jobs, contacts and standing programs
 * (schedules).
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
  /** Threads that convert imported API documents into toolkits, so that the conversion does not block the event loop. */
  readonly importThreads: ThreadPool;
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
  importThreads,
  ...parts
}: ServicesOptions): RegisterServices {
  const { db, clock, sealer, sandboxMode, publicUrl, consoleUrl } = parts;
  const { isOauthRegistered } = apps;
  const importer = createToolkitImporter({
    threads: importThreads,
    read: async (url, projectId) => sourceOf(await apps.readDocument(url, projectId)),
    readMcp: apps.readMcp,
  });
  return (router) => {
    router.service(
      CatalogService,
      createCatalogService({ db, clock, views, sealer, isOauthRegistered, sandboxMode, importer }),
    );
    const connections = { ...apps, views, db, clock, sealer, sandboxMode, publicUrl, consoleUrl };
    router.service(ConnectionsService, createConnectionsService(connections));
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
    router.service(TriggersService, createTriggersService(triggers));
  };
}

/** Returns the bytes of a document that svc requested from an address, or the reason why the document could not be read. */
function sourceOf(answer: AppAnswer): ReadSource {
  switch (answer.kind) {
    case "refused":
      return { kind: "refused", message: answer.message };
    case "too_large": {
      const why = answer.isBusy === true ? "too little memory is free at the moment" : "it has more than 16 MiB";
      return { kind: "failed", message: why };
    }
    case "answer":
      break;
    default:
      return { kind: "failed", message: answer.message };
  }
  if (answer.status !== 200) return { kind: "failed", message: `the server answered ${answer.status}` };
  if (answer.unreadable !== undefined) return { kind: "failed", message: `its text ${answer.unreadable}` };
  const { body, headers } = answer;
  // A thread gets the whole memory of a buffer. Small bodies are parts of a memory that also has other data.
  const bytes = body.byteLength === body.buffer.byteLength ? body : Uint8Array.from(body);
  return { kind: "document", bytes, contentType: headers["content-type"] };
}
