import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import { isEntityId, type ProjectId, requireId } from "@svc/core";
import { beginErasure, type Erasure, findErasure, previewErasure, unsearchedTables } from "@svc/db/erasures/repo";
import { findProject } from "@svc/db/projects/repo";
import { type AdminService, type Erasure as ErasureMessage, ErasureSchema } from "@svc/gen/admin";
import type { AdminContext } from "./context.ts";
import { adminFaults } from "./errors.ts";
import { exportLines } from "./export.ts";

/** Maximum duration in milliseconds of an erasure's dry run. It is short because a caller waits for the result. */
const previewMs = 20_000;

/** Returns the methods of AdminService that erase the data of an entity (customer or user) or a project, and that export this data. */
export function erasureMethods(
  context: AdminContext,
): Pick<ServiceImpl<typeof AdminService>, "eraseEntity" | "deleteProject" | "getErasure" | "exportEntity"> {
  const { db, clock, onKeysEnded } = context;
  const findTarget = async (text: string, entityId: string | undefined): Promise<ProjectId> => {
    const projectId = requireId("prj", "projectId", text);
    if (entityId !== undefined && !isEntityId(entityId)) throw adminFaults.ENTITY_ID_INVALID(entityId);
    if ((await findProject(db, projectId)) === undefined) throw adminFaults.PROJECT_NOT_FOUND(projectId);
    return projectId;
  };
  const preview = async (text: string, entityId: string): Promise<ErasureMessage> => {
    const projectId = await findTarget(text, entityId);
    const untilMs = clock.now() + previewMs;
    const { counts, samples, isPartial } = await previewErasure(
      db,
      { projectId, entityId },
      () => clock.now() < untilMs,
    );
    return create(ErasureSchema, {
      ...{ projectId, kind: "entity", entityId, state: "dry_run", counts: { ...counts }, partial: isPartial },
      samples: samples.map(({ table, ids }) => ({ table, ids: [...ids] })),
      ...{ notSearched: notSearched("entity"), createdAt: timestampFromMs(clock.now()) },
    });
  };
  const begin = async (text: string, entityId: string | undefined): Promise<ErasureMessage> => {
    const projectId = await findTarget(text, entityId);
    const erasure = await beginErasure(db, { projectId, entityId }, { nowMs: clock.now() });
    onKeysEnded(projectId);
    return erasureMessage(erasure);
  };
  return {
    async eraseEntity({ projectId, entityId, dryRun }) {
      return { erasure: await (dryRun ? preview(projectId, entityId) : begin(projectId, entityId)) };
    },
    deleteProject: async ({ projectId }) => ({ erasure: await begin(projectId, undefined) }),
    exportEntity: (request, ctx) => exportLines(context, request, ctx),
    async getErasure(request) {
      const id = requireId("ers", "id", request.id);
      const erasure = await findErasure(db, id);
      if (erasure === undefined) throw adminFaults.ERASURE_NOT_FOUND(id);
      return { erasure: erasureMessage(erasure) };
    },
  };
}

function erasureMessage(erasure: Erasure): ErasureMessage {
  const { id, projectId, kind, entityId, state, counts, pass, jobsLeft, createdAt, finishedAt } = erasure;
  return create(ErasureSchema, {
    ...{ id, projectId, kind, entityId, state, pass, jobsLeft },
    counts: { ...counts },
    notSearched: notSearched(kind),
    createdAt: timestampFromMs(createdAt),
    ...(finishedAt !== null && { finishedAt: timestampFromMs(finishedAt) }),
  });
}

function notSearched(kind: "entity" | "project"): { place: string; reason: string }[] {
  return [...unsearchedTables(kind), ...placesBeside];
}

const placesBeside = [
  { place: "texts", reason: "texts of others that mention the entity, such as their payloads, programs and titles" },
  { place: "log", reason: "the service's log and the logs of proxies: they have ids and no payloads" },
  { place: "backups", reason: "backups and exports made before: delete them, or erase again after a restore" },
  {
    place: "wal",
    reason:
      "PostgreSQL's write-ahead log and free pages have deleted rows until PostgreSQL overwrites them; archives have them longer",
  },
  { place: "receivers", reason: "endpoints, apps and agents keep the data that they received" },
];
