import type { Clock, Sealer } from "@svc/core";
import type { Database } from "@svc/db/connect";
import { secretsOfDeployment } from "@svc/db/secrets/deployment";
import type { SecretRow } from "@svc/db/secrets/repo";
import { isSecretValue } from "./secrets.ts";

/**
 * Names of the deployment's own secrets. `embeddings_key`: the bearer token of the embeddings endpoint. `oidc_client_secret`: the secret of
 * svc at the identity provider.
 */
export const deploymentSecretNames = ["embeddings_key", "oidc_client_secret"] as const;

/** A name that a deployment secret can have. */
export type DeploymentSecretName = (typeof deploymentSecretNames)[number];

/** True if the text is one of the names that a deployment secret can have. */
export function isDeploymentSecretName(name: string): name is DeploymentSecretName {
  return deploymentSecretNames.some((known) => known === name);
}

/**
 * True if a text can be the value of a deployment secret. Only printable ASCII without spaces is allowed, because svc sends the value in
 * request headers.
 */
export function isDeploymentSecretValue(value: string): boolean {
  return isSecretValue(value) && /^[\x21-\x7e]+$/.test(value);
}

/** The secrets of the deployment itself, sealed in the store with its data key. */
export type DeploymentSecrets = {
  /**
   * Returns the value of the secret with this name, or undefined if the secret does not exist. A value that another node stored is seen
   * after at most 5 s; a value that this node stored is seen at once. Rejects if the database is unavailable or the value cannot be
   * decrypted.
   */
  find(name: DeploymentSecretName): Promise<string | undefined>;
  /** Returns all stored secrets of the deployment in the order of their names, without their values. */
  list(): Promise<SecretRow[]>;
  /** Stores a secret of the deployment. If the secret already exists, replaces its value. */
  put(name: DeploymentSecretName, value: string): Promise<SecretRow>;
  /** Deletes a secret. Returns false if it did not exist. */
  delete(name: DeploymentSecretName): Promise<boolean>;
};

/**
 * Time in milliseconds for which a node keeps a secret in memory after it has read the secret from the database. Each search for tools by
 * meaning needs a secret, and should not need a database read each time.
 */
const freshMs = 5_000;

type Read = { readonly value: Promise<string | undefined>; readonly atMs: number };

/** Creates the functions that read and write the secrets of the deployment itself, in the given database. */
export function createDeploymentSecrets({
  db,
  sealer,
  clock,
}: {
  db: Database;
  sealer: Sealer;
  clock: Clock;
}): DeploymentSecrets {
  const repository = secretsOfDeployment(db);
  const known = new Map<DeploymentSecretName, Read>();
  const open = async (name: DeploymentSecretName) => {
    const sealed = await repository.find(name);
    return sealed && sealer.open(sealed, contextOf(name)).toString("utf8");
  };
  const read = (name: DeploymentSecretName) => {
    const reading: Read = { value: open(name), atMs: clock.now() };
    known.set(name, reading);
    // A failed read is not kept, so that the next caller reads the secret again.
    reading.value.catch(() => known.get(name) === reading && known.delete(name));
    return reading.value;
  };
  return {
    find(name) {
      const last = known.get(name);
      return last !== undefined && Math.abs(clock.now() - last.atMs) < freshMs ? last.value : read(name);
    },
    list: () => repository.list(),
    async put(name, value) {
      const now = clock.now();
      const sealed = sealer.seal(Buffer.from(value, "utf8"), contextOf(name));
      const row = await repository.put({ name, value: sealed, createdAt: now, updatedAt: now });
      known.delete(name);
      return row;
    },
    async delete(name) {
      const isDeleted = await repository.delete(name);
      known.delete(name);
      return isDeleted;
    },
  };
}

function contextOf(name: DeploymentSecretName): string {
  return `deployment/deployment_secrets/${name}`;
}
