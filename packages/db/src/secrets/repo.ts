import type { ProjectId } from "@svc/core";
import { and, asc, count, eq, ne } from "drizzle-orm";
import { type Executor, withTransaction } from "../connect.ts";
import { projects, secrets } from "../schema/index.ts";

/** A secret without its value. */
export type SecretRow = Pick<typeof secrets.$inferSelect, "name" | "createdAt" | "updatedAt">;

/** A secret to store. */
export type NewSecret = SecretRow & Pick<typeof secrets.$inferSelect, "value">;

/** The secrets of one project. */
export type SecretRepository = {
  /** Returns the secrets without their values, sorted by name. */
  list(): Promise<SecretRow[]>;
  /**
   * Creates a secret, or replaces the value of the project's secret with the same name. A replaced secret keeps its createdAt. Returns the
   * secret. Undefined, with nothing stored, if the project would have more than `most` secrets.
   */
  put(secret: NewSecret, most: number): Promise<SecretRow | undefined>;
  /** Deletes a secret. Returns false if the project has no secret with this name. */
  delete(name: string): Promise<boolean>;
};

const columns = { name: secrets.name, createdAt: secrets.createdAt, updatedAt: secrets.updatedAt };

/** Returns the repository of one project's secrets. */
export function secretsForProject(db: Executor, projectId: ProjectId): SecretRepository {
  const ofProject = eq(secrets.projectId, projectId);
  return {
    list: () => db.orm.select(columns).from(secrets).where(ofProject).orderBy(asc(secrets.name)),
    put: (secret, most) =>
      withTransaction(db, async (tx) => {
        // Locks the project's row. So if two secrets are created at the same time, only one of them can be the last allowed one.
        await tx.orm.select({ id: projects.id }).from(projects).where(eq(projects.id, projectId)).for("no key update");
        const [others] = await tx.orm
          .select({ count: count() })
          .from(secrets)
          .where(and(ofProject, ne(secrets.name, secret.name)));
        if ((others?.count ?? 0) >= most) return undefined;
        const { value, updatedAt } = secret;
        const [row] = await tx.orm
          .insert(secrets)
          .values({ ...secret, projectId })
          .onConflictDoUpdate({ target: [secrets.projectId, secrets.name], set: { value, updatedAt } })
          .returning(columns);
        return row;
      }),
    async delete(name) {
      const rows = await db.orm
        .delete(secrets)
        .where(and(ofProject, eq(secrets.name, name)))
        .returning({ name: secrets.name });
      return rows.length > 0;
    },
  };
}
