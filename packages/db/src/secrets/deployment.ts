import { asc, eq } from "drizzle-orm";
import type { Executor } from "../connect.ts";
import { deploymentSecrets } from "../schema/index.ts";
import type { NewSecret, SecretRow } from "./repo.ts";

/** The secrets of the deployment itself. */
export type DeploymentSecretRepository = {
  /** By name. */
  list(): Promise<SecretRow[]>;
  /** The sealed value; undefined where there is none. By primary key. */
  find(name: string): Promise<Buffer | undefined>;
  /** Creates one, or gives that of its name a new value, which keeps its createdAt. */
  put(secret: NewSecret): Promise<SecretRow>;
  /** False when there was none. */
  delete(name: string): Promise<boolean>;
};

const columns = {
  name: deploymentSecrets.name,
  createdAt: deploymentSecrets.createdAt,
  updatedAt: deploymentSecrets.updatedAt,
};

/** The secrets of the deployment itself. */
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
