import type { ProjectId } from "@svc/core";
import { eq, sql } from "drizzle-orm";
import type { Executor } from "../connect.ts";
import { findQuotaReached, type QuotaReached } from "../projects/quotas.ts";
import { usageOfProject } from "../projects/usage.ts";
import { projects } from "../schema/index.ts";

/**
 * Increments the version of a project's catalog and returns it. Locks the project's row until the end of the transaction. Call it in every
 * transaction that changes a toolkit (one app's tools) or skill (a program used as a tool) that the project sees.
 */
export async function touchCatalog(tx: Executor, projectId: ProjectId): Promise<number> {
  const [row] = await tx.orm
    .update(projects)
    .set({ catalogVersion: sql`${projects.catalogVersion} + 1` })
    .where(eq(projects.id, projectId))
    .returning({ version: projects.catalogVersion });
  return row?.version ?? 0;
}

/** A quota of private toolkits (app definitions that a project published) that a change would exceed. */
export type ToolkitQuotaReached = QuotaReached & { readonly quota: "privateToolkits" | "privateToolkitBytes" };

/**
 * Texts that a toolkit (app definition) would store in place of its present ones. `part`: `definition` if they are the definition with the
 * options and changes of its source, and `phrases` if they are its search phrases.
 */
type ToolkitTexts = {
  readonly projectId: ProjectId;
  readonly slug: string;
  readonly part: "definition" | "phrases";
  readonly texts: readonly string[];
};

/**
 * Returns the quota that a project would exceed if its private toolkits (app definitions) had the given new texts; undefined if they fit.
 * The texts replace those of one toolkit. Call it after `touchCatalog`, which locks the project.
 */
export async function findBytesReached(
  tx: Executor,
  { projectId, slug, part, texts }: ToolkitTexts,
): Promise<ToolkitQuotaReached | undefined> {
  const more = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  const bytes = { projectId, name: "privateToolkitBytes", more } as const;
  const large = await findQuotaReached(tx, bytes, () =>
    usageOfProject(tx, projectId).measureToolkits({ [part]: slug }),
  );
  return large === undefined ? undefined : { ...large, quota: "privateToolkitBytes" };
}
