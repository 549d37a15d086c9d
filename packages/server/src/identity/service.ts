import { create } from "@bufbuild/protobuf";
import { durationFromMs } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import { noConfirmRule, requireProject } from "@svc/core";
import type { Database } from "@svc/db/connect";
import { findKeyById } from "@svc/db/keys/repo";
import { findProject } from "@svc/db/projects/repo";
import { type Deployment, DeploymentSchema, type IdentityService } from "@svc/gen/identity";
import { roleMessage } from "../auth/role-message.ts";
import type { Config } from "../config/settings.ts";
import { version } from "../version.ts";

/** Dependencies of IdentityService. */
export type IdentityOptions = {
  readonly db: Database;
  readonly config: Config;
  /** Returns the address at which callers and apps reach the service. Available when the server listens. */
  readonly publicUrl: () => string;
};

/** Creates IdentityService, which returns facts about the calling key and the deployment. */
export function createIdentityService({ db, config, publicUrl }: IdentityOptions): ServiceImpl<typeof IdentityService> {
  return {
    async getIdentity(_request, ctx) {
      const { projectId, keyId, role, binding, portal } = requireProject(ctx);
      const [project, key] = await Promise.all([findProject(db, projectId), findKeyById(db, keyId)]);
      return {
        projectId,
        projectName: project?.name ?? "",
        keyId,
        keyName: key?.name ?? "",
        role: roleMessage(role),
        entityId: binding?.entityId ?? "",
        accessClasses: [...(binding?.accessClasses ?? [])],
        toolkitSlugs: [...(binding?.toolkitSlugs ?? [])],
        confirm: { ...(key?.confirm ?? noConfirmRule) },
        deployment: deploymentMessage(config, publicUrl(), portal !== undefined),
      };
    },
  };
}

/** Returns the facts about the deployment. A customer in the portal gets only those that concern its endpoints. */
function deploymentMessage(config: Config, publicUrl: string, isPortal: boolean): Deployment {
  const events = durationFromMs(config.eventRetentionMs);
  if (isPortal) return create(DeploymentSchema, { publicUrl, retentions: { events } });
  const { adminToken, adminListen, oidc, sandboxMode, jobRetentionMs } = config;
  const isAdministered = (adminToken !== undefined || oidc !== undefined) && adminListen === undefined;
  return create(DeploymentSchema, {
    version,
    sandbox: sandboxMode !== "off",
    publicUrl,
    retentions: {
      events,
      calls: durationFromMs(config.callRetentionMs),
      jobRows: durationFromMs(config.jobRowRetentionMs),
      standingRuns: durationFromMs(config.standingRunRetentionMs),
      ...(jobRetentionMs !== undefined && { jobs: durationFromMs(jobRetentionMs) }),
    },
    features: [...(isAdministered ? ["admin"] : []), "standing_programs"],
  });
}
