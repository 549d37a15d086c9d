import { createBatcher, type ProjectId, type Sealer } from "@svc/core";
import type { Database } from "@svc/db/connect";
import { isUnavailable } from "@svc/db/driver";
import { findSecrets, type SecretPlace } from "@svc/db/secrets/find";

const namePattern = /^[a-z][a-z0-9_-]{0,59}$/;
const lengths = { min: 8, max: 8_192 };

/** Whether a text can be the name of a secret. */
export function isSecretName(name: string): boolean {
  return namePattern.test(name);
}

/** Whether a text can be a secret: what is short could not be masked where an app repeats it. */
export function isSecretValue(value: string): boolean {
  return value.length >= lengths.min && value.length <= lengths.max;
}

/** Seals a secret for its row: no other name, table or project opens it. */
export function sealSecret(sealer: Sealer, place: SecretPlace, value: string): Buffer {
  return sealer.seal(Buffer.from(value, "utf8"), contextOf(place));
}

function contextOf({ projectId, name }: SecretPlace): string {
  return `${projectId}/secrets/${name}`;
}

/** The secrets of projects, for who sends them. */
export type SecretVault = {
  /** The present values by name; one that is not there is left out. Rejects when the store is away, or a value does not open. */
  open(projectId: ProjectId, names: readonly string[]): Promise<ReadonlyMap<string, string>>;
};

/** The secrets of a store. Those that are asked for together, as by the rows of a map, are one statement. */
export function createSecretVault({ db, sealer }: { db: Database; sealer: Sealer }): SecretVault {
  const values = createBatcher<SecretPlace, Buffer | undefined>({
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
