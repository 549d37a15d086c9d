import type { ProjectId } from "@svc/core";
import { and, eq, ne } from "drizzle-orm";
import { type Executor, withTransaction } from "../connect.ts";
import { findQuotaReached, type QuotaReached } from "../projects/quotas.ts";
import { privateToolkits, projects, toolkitClients } from "../schema/index.ts";

/**
 * An OAuth client that a project has registered for one of its private toolkits (an app that the project defined), with its encrypted
 * secret.
 */
export type ToolkitClient = Omit<typeof toolkitClients.$inferSelect, "projectId">;

/** An OAuth client that an import found for a toolkit. The toolkit's slug may not be known yet. */
export type FoundToolkitClient = Omit<ToolkitClient, "slug">;

/** Functions that read and change the OAuth clients of one project's private toolkits (apps that the project defined). */
export type ToolkitClientRepository = {
  /** Returns all clients, sorted by the slug of their toolkit. */
  list(): Promise<ToolkitClient[]>;
  /** Returns the client of a toolkit; undefined if it has none. Uses the primary key. */
  find(slug: string): Promise<ToolkitClient | undefined>;
  /**
   * Stores a client, or replaces the client of the same toolkit. Undefined if it was stored. Otherwise returns the reached quota: a project
   * has at most as many clients as private toolkits. `needsToolkit`: stores nothing and returns `deleted` if the project has no private
   * toolkit with this slug any more.
   */
  put(
    client: ToolkitClient,
    options?: { readonly needsToolkit: boolean },
  ): Promise<QuotaReached | "deleted" | undefined>;
  /** Deletes the client of a toolkit. Returns false if it has none. */
  delete(slug: string): Promise<boolean>;
};

/** Returns the repository of the OAuth clients of one project's private toolkits. */
export function toolkitClientsForProject(db: Executor, projectId: ProjectId): ToolkitClientRepository {
  const own = (slug: string) => and(eq(toolkitClients.projectId, projectId), eq(toolkitClients.slug, slug));
  return {
    list: () =>
      db.orm.select(columns).from(toolkitClients).where(eq(toolkitClients.projectId, projectId)).orderBy(columns.slug),
    async find(slug) {
      const [row] = await db.orm.select(columns).from(toolkitClients).where(own(slug));
      return row;
    },
    put: (client, { needsToolkit } = { needsToolkit: false }) =>
      withTransaction(db, async (tx) => {
        // Locks the project's row. So if two clients are stored at the same time, only one of them can use the last place below the quota.
        await tx.orm.select({ id: projects.id }).from(projects).where(eq(projects.id, projectId)).for("no key update");
        // The deletion of a toolkit locks the same row, so it comes before this read or after this transaction.
        const toolkit = and(eq(privateToolkits.projectId, projectId), eq(privateToolkits.slug, client.slug));
        if (needsToolkit && (await tx.orm.$count(privateToolkits, toolkit)) === 0) return "deleted";
        const others = and(eq(toolkitClients.projectId, projectId), ne(toolkitClients.slug, client.slug));
        const quota = { projectId, name: "privateToolkits" } as const;
        const reached = await findQuotaReached(tx, quota, () => tx.orm.$count(toolkitClients, others));
        if (reached !== undefined) return reached;
        const insert = tx.orm.insert(toolkitClients).values({ projectId, ...client });
        await insert.onConflictDoUpdate({ target, set: client });
        return undefined;
      }),
    delete: (slug) => deleteToolkitClient(db, { projectId, slug }),
  };
}

const target = [toolkitClients.projectId, toolkitClients.slug];

const columns = {
  slug: toolkitClients.slug,
  issuer: toolkitClients.issuer,
  tokenUrl: toolkitClients.tokenUrl,
  clientId: toolkitClients.clientId,
  clientSecret: toolkitClients.clientSecret,
  secretPlace: toolkitClients.secretPlace,
  registration: toolkitClients.registration,
  expiresAt: toolkitClients.expiresAt,
  updatedAt: toolkitClients.updatedAt,
};

/**
 * Stores the OAuth client that an import found, in the transaction that stores the toolkit. Does not replace a client that an approver has
 * set by hand.
 */
export async function keepFoundClient(
  tx: Executor,
  client: ToolkitClient & { readonly projectId: ProjectId },
): Promise<void> {
  const insert = tx.orm.insert(toolkitClients).values(client);
  await insert.onConflictDoUpdate({ target, set: client, setWhere: ne(toolkitClients.registration, "manual") });
}

/** Deletes the OAuth client of a project's private toolkit. Returns false if the toolkit has no client. */
export async function deleteToolkitClient(
  db: Executor,
  { projectId, slug }: { readonly projectId: ProjectId; readonly slug: string },
): Promise<boolean> {
  const own = and(eq(toolkitClients.projectId, projectId), eq(toolkitClients.slug, slug));
  return (await db.orm.delete(toolkitClients).where(own).returning({ slug: toolkitClients.slug })).length > 0;
}
