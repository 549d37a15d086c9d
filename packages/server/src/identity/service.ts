import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { requireProject } from "@svc/core";
import { type Database, findProject } from "@svc/db";
import { GetIdentityResponseSchema, type IdentityService } from "@svc/gen/identity";
import { Role } from "@svc/gen/options";

/** IdentityService: what a key is told about itself. */
export function createIdentityService({ db }: { db: Database }): ServiceImpl<typeof IdentityService> {
  return {
    async getIdentity(_request, ctx) {
      const { projectId, keyId, role } = requireProject(ctx);
      const project = await findProject(db, projectId);
      return create(GetIdentityResponseSchema, {
        projectId,
        projectName: project?.name ?? "",
        keyId,
        role: role === "approver" ? Role.APPROVER : Role.MEMBER,
      });
    },
  };
}
