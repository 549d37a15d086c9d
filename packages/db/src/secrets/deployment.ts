import { asc, eq } from "drizzle-orm";
import type { Executor } from "../connect.ts";
import { deploymentSecrets } from "../schema/index.ts";
import type { NewSecret, SecretRow } from "./repo.ts";

/** Functions that read and change the secrets of the deployment itself, which belong to no project. */
export type DeploymentSecretRepository = {
  /** Returns the secrets without their values, sorted by name. */
  list(): Promise<SecretRow[]>;
  /** Returns the sealed value of a secret; undefined if the secret does not exist. Uses the primary key. */
  find(name: string): Promise<Buffer | undefined>;
  /**
   * Creates a secret, or replaces the value of the secret with the same name. Returns the secret. A replaced secret keeps its createdAt.
   */
  put(secret: NewSecret): Promise<SecretRow>;
  /** Deletes a secret. Returns false if the secret does not exist. */
  delete(name: string): Promise<boolean>;
};

const columns = {
  name: deploymentSecrets.name,
  createdAt: deploymentSecrets.createdAt,
  updatedAt: deploymentSecrets.updatedAt,
};

/** Returns the functions that read and change the secrets of the deployment itself, which belong to no project. */
export function secretsOfDeployment(db: Executor): DeploymentSecretRepository {
  const named = (name: string) => eq(deploymentSecrets.name, name);
  return {
    list: () => db.orm.select(columns).from(deploymentSecrets).orderBy(asc(deploymentSecrets.name)),
    async find(name) {
      const [row] = await db.orm.select({ value: deploymentSecrets.value }).from(deploymentSecrets).where(named(name));
      return row?.value;
    },
    async put(secret) {
      const { value, updatedAt } = secret;
      const [row = secret] = await db.orm
        .insert(deploymentSecrets)
        .values(secret)
        .onConflictDoUpdate({ target: deploymentSecrets.name, set: { value, updatedAt } })
        .returning(columns);
      return row;
    },
    async delete(name) {
      const rows = await db.orm
        .delete(deploymentSecrets)
        .where(named(name))
        .returning({ name: deploymentSecrets.name });
      return rows.length > 0;
    },
  };
}
