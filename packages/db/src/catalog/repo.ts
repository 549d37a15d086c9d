import { type ProjectId, uuidOfId } from "@svc/core";
import { and, eq, ne, sql } from "drizzle-orm";
import type { Executor } from "../connect.ts";
import { withTransaction } from "../connect.ts";
import { erased } from "../connections/account.ts";
import { releaseAccountReferences } from "../connections/references.ts";
import { findQuotaReached } from "../projects/quotas.ts";
import { connectedAccounts, privateToolkits, toolkitSources, webhookSecrets } from "../schema/index.ts";
import type { ToolkitSourceKind } from "../schema/words.ts";
import { statement } from "../sql/statement.ts";
import { deleteToolkitClient, type FoundToolkitClient, keepFoundClient } from "./clients.ts";
import {
  acceptSourceChanges,
  acceptTrustedChanges,
  isSourceOfToolkit,
  putSource,
  type SourceChange,
  textsOf,
} from "./sources.ts";
import { findBytesReached, type ToolkitQuotaReached, touchCatalog } from "./touch.ts";

/** The definition of a private toolkit (published by one project for itself), as JSON text. */
export type PrivateToolkit = { slug: string; definition: string; originDigest: Buffer };

/** A private toolkit in a list. `source`: the kind of its source and the number of waiting changes; null if it was published from files. */
type ListedToolkit = PrivateToolkit & {
  /** Search phrases that the project added to the toolkit's tools, as JSON text. */
  readonly phrases: string;
  readonly source: { readonly kind: ToolkitSourceKind; readonly changesWaiting: number } | null;
};

/** A private toolkit (published by one project for itself) to store, with the number of its tools and the time of the change. */
type StoredToolkit = PrivateToolkit & { toolCount: number; updatedAt: number };

/**
 * Functions that read and change the private toolkits (app definitions that one project published). Each change also increments the
 * project's catalog version in the same transaction, so that nodes read the toolkits again.
 */
export type PrivateToolkitRepository = {
  /**
   * Returns the version of the project's catalog. It grows with every change; 0 before the first change. Uses the primary key of
   * `projects`.
   */
  version(): Promise<number>;
  /**
   * Returns all private toolkits (app definitions of the project), sorted by slug, and the catalog version that was current before they
   * were read.
   */
  list(): Promise<{ version: number; toolkits: ListedToolkit[] }>;
  /**
   * Stores a toolkit, or replaces the toolkit with the same slug, and returns undefined. Otherwise stores nothing and returns the reason:
   * - a reached quota: the project would have too many toolkits, or too large ones.
   * - `taken`: `mustBeNew` is true and the project has a toolkit with this slug.
   * - `outdated`: the changes that `source` accepts are not the changes that wait now, or the source has changed since it was read.
   *
   * `source`: the new record of where the toolkit was imported from. Undefined deletes the stored record. `client`: the project's OAuth
   * client that an import found. Undefined keeps the stored client.
   */
  put(
    toolkit: StoredToolkit,
    options?: {
      readonly mustBeNew: boolean;
      readonly source?: SourceChange | undefined;
      readonly client?: FoundToolkitClient | undefined;
    },
  ): Promise<ToolkitQuotaReached | "taken" | "outdated" | undefined>;
  /**
   * Replaces the search phrases of a toolkit's tools, and returns undefined. `phrases`: JSON text. Otherwise stores nothing and returns the
   * reason: a reached quota, or `missing` if the project has no toolkit with this slug.
   */
  putPhrases(slug: string, phrases: string): Promise<ToolkitQuotaReached | "missing" | undefined>;
  /**
   * Deletes a toolkit (the tools and webhooks of one app) with the secrets of its webhook and the project's OAuth client for it, and revokes
   * its accounts: clears their credentials and releases their references. Returns false if the project has no toolkit with this slug.
   */
  delete(slug: string, nowMs: number): Promise<boolean>;
};

const ownSlug = { slug: privateToolkits.slug };

const selectVersion = statement<{ catalog_version: string }>(
  "read_catalog_version",
  "select catalog_version from projects where id = $1::uuid",
);

/** Returns the repository of one project's private toolkits (app definitions that the project published). */
export function privateToolkitsForProject(db: Executor, projectId: ProjectId): PrivateToolkitRepository {
  const own = (slug: string) => and(eq(privateToolkits.projectId, projectId), eq(privateToolkits.slug, slug));
  const version = async (executor: Executor = db) => {
    const [row] = await selectVersion(executor, [uuidOfId(projectId)]);
    return Number(row?.catalog_version ?? 0);
  };
  return {
    version: () => version(),
    async list() {
      // Reads the version before the toolkits. If a toolkit changes between the two reads, the list has the new toolkit with the old
      // version. The caller then reads the list again at the next version.
      const before = await version();
      const rows = await db.orm
        .select({
          slug: privateToolkits.slug,
          definition: privateToolkits.definition,
          originDigest: privateToolkits.originDigest,
          phrases: privateToolkits.phrases,
          source: { kind: toolkitSources.kind, changesWaiting: toolkitSources.changesCount },
        })
        .from(privateToolkits)
        .leftJoin(toolkitSources, isSourceOfToolkit)
        .where(eq(privateToolkits.projectId, projectId))
        .orderBy(privateToolkits.slug);
      return { version: before, toolkits: rows };
    },
    put: (toolkit, { mustBeNew, source, client } = { mustBeNew: false }) =>
      withTransaction(db, async (tx) => {
        // This locks the project's row. So if two toolkits are published at the same time, only one of them can use the last place below
        // the quota.
        const version = await touchCatalog(tx, projectId);
        const others = and(eq(privateToolkits.projectId, projectId), ne(privateToolkits.slug, toolkit.slug));
        const quota = { projectId, name: "privateToolkits" } as const;
        const reached = await findQuotaReached(tx, quota, () => tx.orm.$count(privateToolkits, others));
        if (reached !== undefined) return { ...reached, quota: "privateToolkits" };
        const texts = [toolkit.definition, ...textsOf(source)];
        const large = await findBytesReached(tx, { projectId, slug: toolkit.slug, part: "definition", texts });
        if (large !== undefined) return large;
        // Comes after the checks that end the transaction without an error, because it must not be stored without the definition.
        const changed = { projectId, slug: toolkit.slug, version };
        if (source?.kind === "accept" && !(await acceptSourceChanges(tx, changed, source))) return "outdated";
        const at = toolkit.updatedAt;
        if (source?.kind === "trust" && !(await acceptTrustedChanges(tx, changed, { ...source, at })))
          return "outdated";
        const insert = tx.orm.insert(privateToolkits).values({ projectId, ...toolkit });
        const target = [privateToolkits.projectId, privateToolkits.slug];
        if (!mustBeNew) await insert.onConflictDoUpdate({ target, set: toolkit });
        else if ((await insert.onConflictDoNothing({ target }).returning(ownSlug)).length === 0) return "taken";
        if (source === undefined || source.kind === "put") await putSource(tx, changed, source);
        if (client !== undefined) await keepFoundClient(tx, { ...client, projectId, slug: toolkit.slug });
        return undefined;
      }),
    putPhrases: (slug, phrases) =>
      withTransaction(db, async (tx) => {
        await touchCatalog(tx, projectId);
        const large = await findBytesReached(tx, { projectId, slug, part: "phrases", texts: [phrases] });
        if (large !== undefined) return large;
        const rows = await tx.orm.update(privateToolkits).set({ phrases }).where(own(slug)).returning(ownSlug);
        return rows.length > 0 ? undefined : "missing";
      }),
    delete: (slug, nowMs) =>
      withTransaction(db, async (tx) => {
        await touchCatalog(tx, projectId);
        const rows = await tx.orm.delete(privateToolkits).where(own(slug)).returning(ownSlug);
        if (rows.length === 0) return false;
        // A toolkit that is published later under the same slug must not accept posts that are signed for this one.
        const ofToolkit = and(eq(webhookSecrets.projectId, projectId), eq(webhookSecrets.toolkitSlug, slug));
        await tx.orm.delete(webhookSecrets).where(ofToolkit);
        await deleteToolkitClient(tx, { projectId, slug });
        await revokeAccounts(tx, projectId, slug, nowMs);
        return true;
      }),
  };
}

/**
 * Revokes the accounts of a deleted toolkit (one app's tools and webhooks). A toolkit that is published later under the same slug is a
 * different toolkit, and must not use these accounts.
 */
async function revokeAccounts(tx: Executor, projectId: ProjectId, toolkitSlug: string, nowMs: number): Promise<void> {
  const revoked = await tx.orm
    .update(connectedAccounts)
    .set({ ...erased, state: "revoked", updatedAt: nowMs })
    .where(
      and(
        eq(connectedAccounts.projectId, projectId),
        // Has the form of the expression in the index connected_accounts_toolkit, because PostgreSQL uses the index only then.
        sql`(${connectedAccounts.toolkitSlug} || ' ') = ${`${toolkitSlug} `}`,
        eq(connectedAccounts.isPrivate, true),
        ne(connectedAccounts.state, "revoked"),
      ),
    )
    .returning({ id: connectedAccounts.id });
  await releaseAccountReferences(
    tx,
    projectId,
    revoked.map(({ id }) => id),
  );
}
