import type { ProjectId } from "@svc/core";
import { eq, sql } from "drizzle-orm";
import type { Executor } from "../connect.ts";
import { projects } from "../schema/index.ts";

/**
 * Increments the version of a project's catalog. Call it in every transaction that changes a toolkit (one app's tools) or skill (a program
 * used as a tool) that the project sees.
 */
export async function touchCatalog(tx: Executor, projectId: ProjectId): Promise<void> {
  await tx.orm
    .update(projects)
    .set({ catalogVersion: sql`${projects.catalogVersion} + 1` })
    .where(eq(projects.id, projectId));
}
