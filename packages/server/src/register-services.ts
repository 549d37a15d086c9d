import type { ConnectRouter } from "@connectrpc/connect";
import { appNamesOf } from "@svc/catalog";
import type { KeyId, ProjectId } from "@svc/core";
import { AdminService } from "@svc/gen/admin";
import { ConsoleService } from "@svc/gen/console";
import { GrantsService } from "@svc/gen/grants";
import { Health as HealthRpc } from "@svc/gen/health";
import { IdentityService } from "@svc/gen/identity";
import { StatsService } from "@svc/gen/stats";
import { titleOfListed } from "@svc/node";
import { createExportPages } from "./admin/export.ts";
import { createAdminService } from "./admin/service.ts";
import { keylessBodyBytesMax } from "./body/intake.ts";
import { createConsoleService } from "./console/service.ts";
import { createGrantsService } from "./grants/service.ts";
import { createHealthService } from "./health/service.ts";
import { createIdentityService } from "./identity/service.ts";
import { forgetKeys, type ServerParts } from "./parts.ts";
import { isAudienceDeclared } from "./start/audience.ts";
import { createStatsService } from "./stats/query.ts";
import { createWatches } from "./stats/watches.ts";

/**
 * Registers the services of the node and those of the server: health, identity, grants (people's permissions for agents), statistics,
 * console and administration.
 */
export function registerServices(router: ConnectRouter, parts: ServerParts): void {
  const { config, store, vault, node, health, publicUrl } = parts;
  const { sealer } = vault;
  const { db, clock } = store;
  const services = () => new Set(router.handlers.map(({ service }) => service.typeName));
  router.service(HealthRpc, createHealthService({ health, clock, services }), {
    // gRPC and gRPC-Web are switched off for this service as well. Options that are given for one service replace the options for all
    // services, so the service would otherwise accept these protocols.
    ...{ grpc: false, grpcWeb: false },
    readMaxBytes: keylessBodyBytesMax,
  });
  if (config.role === "worker") return;
  router.service(IdentityService, createIdentityService({ db, config, publicUrl }));
  router.service(
    ConsoleService,
    createConsoleService({
      db,
      clock,
      publicUrl,
      cell: config.cell,
      sessionMaxMs: config.sessionMaxMs,
      sessions: parts.console?.sessions,
    }),
  );
  const onChanged = (id: KeyId) => {
    parts.grants.cache.forget(id);
    node.jobs.engine.forgetConfirmRules(id);
  };
  router.service(
    GrantsService,
    createGrantsService({
      db,
      clock,
      sealer,
      cell: config.cell,
      views: node.views,
      onChanged,
      onRevoked: forgetKeys(parts),
    }),
  );
  node.register(router);
  router.service(
    StatsService,
    createStatsService({
      db,
      clock,
      sealer,
      publicUrl,
      isSandbox: node.apps.sandbox !== undefined,
      watches: createWatches({ db, clock }),
      titleOf: (job) => titleOfListed({ sealer }, job),
      appNames: appNamesOf(node.views.shared),
      messageOf: (call) => node.apps.ledger.openMessage(call),
    }),
  );
  router.service(AdminService, createAdministration(parts));
}

/**
 * Creates AdminService. If one of its calls ends something (for example a project), the cached data about it is removed from this node at
 * once.
 */
function createAdministration(parts: ServerParts): ReturnType<typeof createAdminService> {
  const { config, store, vault, node, keys, admission, grants } = parts;
  const { quarantine, jobs, views, nodeId, deploymentSecrets } = node;
  const sessions = parts.console?.sessions;
  const forgetProject = (id: ProjectId) => {
    keys.forgetProject(id);
    jobs.engine.forgetConfirmRules(id);
    grants.cache.forgetProject(id);
    sessions?.forget({ project: id });
  };
  return createAdminService({
    ...{
      db: store.db,
      clock: store.clock,
      sealer: vault.sealer,
      cell: config.cell,
      quarantine,
      jobs,
      nodeId,
      admission,
      deploymentSecrets,
    },
    rotateVault: vault.rotate,
    catalog: views.shared,
    views,
    exportPages: createExportPages(node.meter.turns),
    posts: node.ingest.quotas,
    isOpenToProjects: isAudienceDeclared(config),
    onRevoked: forgetKeys(parts),
    ...{ oidc: config.oidc, publicUrl: parts.publicUrl },
    onPersonEnded: (ids, person) => {
      forgetKeys(parts)(ids);
      sessions?.forget({ person });
    },
    onQuotas: forgetProject,
    onKeysEnded: forgetProject,
  });
}
