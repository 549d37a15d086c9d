import { createBatcher, type ProjectId, type Sealer } from "@svc/core";
import type { Database } from "@svc/db/connect";
import { isUnavailable } from "@svc/db/driver";
import { findSecrets, type SecretAddress } from "@svc/db/secrets/find";

const namePattern = /^[a-z][a-z0-9_-]{0,59}$/;
const lengths = { min: 8, max: 8_192 };

/** True if a text can be the name of a named secret (a credential of the project that jobs use by name). */
export function isSecretName(name: string): boolean {
  return namePattern.test(name);
}

/** True if a text can be the value of a secret. False for a short text, because svc could not mask it if an app repeats it. */
export function isSecretValue(value: string): boolean {
  return value.length >= lengths.min && value.length <= lengths.max;
}

/**
 * Returns a secret encrypted for its database row. The result can be decrypted only with the same name and project, and only as a secret.
 */
export function sealSecret(sealer: Sealer, place: SecretAddress, value: string): Buffer {
  return sealer.seal(Buffer.from(value, "utf8"), contextOf(place));
}

function contextOf({ projectId, name }: SecretAddress): string {
  return `${projectId}/secrets/${name}`;
}

/** Gives the code that sends requests the values of a project's named secrets. */
export type SecretVault = {
  /**
   * Returns the current values of the named secrets, by name. Names without a secret are absent from the result. Rejects if the database is
   * unavailable or a value cannot be decrypted.
   */
  open(projectId: ProjectId, names: readonly string[]): Promise<ReadonlyMap<string, string>>;
};

/** Creates the secret vault of a database. Secrets that are requested at the same time are read with one statement. */
export function createSecretVault({ db, sealer }: { db: Database; sealer: Sealer }): SecretVault {
  const values = createBatcher<SecretAddress, Buffer | undefined>({
    run: (places) => findSecrets(db, places),
    sizeMax: 200,
    concurrency: 4,
    besideMin: 32,
    splits: (error) => !isUnavailable(error),
  });
  return {
    async open(projectId, names) {
      const places = [...new Set(names)].map((name) => ({ projectId, name }));
      const sealed = await Promise.all(places.map((place) => values.add(place)));
      return new Map(
        places.flatMap((place, index) => {
          const value = sealed[index];
          return value === undefined
            ? []
            : [[place.name, sealer.open(value, contextOf(place)).toString("utf8")] as const];
        }),
      );
    },
  };
}
