import type { Clock, Sealer } from "@svc/core";
import type { Database } from "@svc/db/connect";
import { secretsOfDeployment } from "@svc/db/secrets/deployment";
import type { SecretRow } from "@svc/db/secrets/repo";
import { isSecretValue } from "./secrets.ts";

/** Names of what the deployment itself keeps secret. `embeddings_key`: the bearer token of the embeddings endpoint. */
export const deploymentSecretNames = ["embeddings_key"] as const;

/** One of them. */
export type DeploymentSecretName = (typeof deploymentSecretNames)[number];

/** Whether the deployment keeps a secret of that name. */
export function isDeploymentSecretName(name: string): name is DeploymentSecretName {
  return deploymentSecretNames.some((known) => known === name);
}

/** Whether a text can be one: it is sent in headers. */
export function isDeploymentSecretValue(value: string): boolean {
  return isSecretValue(value) && /^[\x21-\x7e]+$/.test(value);
}

/** The secrets of the deployment itself, sealed in the store with its data key. */
export type DeploymentSecrets = {
  /** The value as it was 5 s ago at the latest, or was put at this node; undefined where there is none. Rejects when the store is away, or it does not open. */
  find(name: DeploymentSecretName): Promise<string | undefined>;
  /** Without their values, by name. */
  list(): Promise<SecretRow[]>;
  /** Keeps one, or gives it a new value. */
  put(name: DeploymentSecretName, value: string): Promise<SecretRow>;
  /** False when there was none. */
  delete(name: DeploymentSecretName): Promise<boolean>;
};

/** A search asks for one, and may not wait for the store each time. */
const freshMs = 5_000;

type Read = { readonly value: Promise<string | undefined>; readonly atMs: number };

/** The secrets of the deployment in a store. */
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
    // What failed is tried again by whoever asks next.
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
