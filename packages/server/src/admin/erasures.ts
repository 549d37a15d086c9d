import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import { isEntityId, type ProjectId, requireId } from "@svc/core";
import { beginErasure, type Erasure, findErasure, findProject } from "@svc/db";
import { type AdminService, type Erasure as ErasureMessage, ErasureSchema } from "@svc/gen/admin";
import type { AdminContext } from "./context.ts";
import { entityIdInvalid, erasureNotFound, projectNotFound } from "./errors.ts";
import { exportLines } from "./export.ts";

/** The methods of AdminService that erase, and that export what would be erased. */
export function erasureMethods(
  context: AdminContext,
): Pick<ServiceImpl<typeof AdminService>, "eraseEntity" | "deleteProject" | "getErasure" | "exportEntity"> {
  const { db, clock, onKeysEnded } = context;
  const begin = async (text: string, entityId: string | undefined): Promise<ErasureMessage> => {
    const projectId: ProjectId = requireId("prj", "projectId", text);
    if (entityId !== undefined && !isEntityId(entityId)) throw entityIdInvalid(entityId);
    if ((await findProject(db, projectId)) === undefined) throw projectNotFound(projectId);
    const erasure = await beginErasure(db, { projectId, entityId }, { nowMs: clock.now() });
    onKeysEnded(projectId);
    return erasureMessage(erasure);
  };
  return {
    eraseEntity: async ({ projectId, entityId }) => ({ erasure: await begin(projectId, entityId) }),
    deleteProject: async ({ projectId }) => ({ erasure: await begin(projectId, undefined) }),
    exportEntity: (request, ctx) => exportLines(context, request, ctx),
    async getErasure(request) {
      const id = requireId("ers", "id", request.id);
      const erasure = await findErasure(db, id);
      if (erasure === undefined) throw erasureNotFound(id);
      return { erasure: erasureMessage(erasure) };
    },
  };
}

function erasureMessage(erasure: Erasure): ErasureMessage {
  const { id, projectId, kind, entityId, state, counts, pass, jobsLeft, createdAt, finishedAt } = erasure;
  return create(ErasureSchema, {
    ...{ id, projectId, kind, entityId, state, pass, jobsLeft },
    counts: { ...counts },
    createdAt: timestampFromMs(createdAt),
    ...(finishedAt !== null && { finishedAt: timestampFromMs(finishedAt) }),
  });
}
