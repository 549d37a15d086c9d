import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import { type Clock, requireProject, type Sealer } from "@svc/core";
import type { Database } from "@svc/db/connect";
import { type SecretRow, secretsForProject } from "@svc/db/secrets/repo";
import { type Secret, SecretSchema, type SecretsService } from "@svc/gen/secrets";
import { connectionFaults } from "../errors.ts";
import { isSecretName, isSecretValue, sealSecret } from "../secrets.ts";

/** Dependencies of SecretsService, the API service for the named secrets of projects. */
export type SecretsContext = { readonly db: Database; readonly clock: Clock; readonly sealer: Sealer };

const secretsMax = 200;

/**
 * Creates the API service SecretsService, which stores the named secrets of projects encrypted in the database. Every method takes its
 * project from the calling key.
 */
export function createSecretsService({ db, clock, sealer }: SecretsContext): ServiceImpl<typeof SecretsService> {
  return {
    async putSecret({ name, value }, ctx) {
      const { projectId } = requireProject(ctx);
      if (!isSecretName(name)) throw connectionFaults.SECRET_NAME_INVALID(name);
      if (!isSecretValue(value)) throw connectionFaults.SECRET_VALUE_INVALID();
      const now = clock.now();
      const sealed = sealSecret(sealer, { projectId, name }, value);
      const secret = { name, value: sealed, createdAt: now, updatedAt: now };
      const put = await secretsForProject(db, projectId).put(secret, secretsMax);
      if (put === undefined) throw connectionFaults.SECRETS_TOO_MANY(secretsMax);
      return { secret: toSecret(put) };
    },
    async deleteSecret({ name }, ctx) {
      const { projectId } = requireProject(ctx);
      if (!isSecretName(name) || !(await secretsForProject(db, projectId).delete(name)))
        throw connectionFaults.SECRET_NOT_FOUND(name);
      return {};
    },
    async listSecrets(_request, ctx) {
      const rows = await secretsForProject(db, requireProject(ctx).projectId).list();
      return { secrets: rows.map(toSecret) };
    },
  };
}

/** Converts a stored secret into the API message `Secret`, which does not contain the secret's value. */
function toSecret({ name, createdAt, updatedAt }: SecretRow): Secret {
  return create(SecretSchema, { name, createdAt: timestampFromMs(createdAt), updatedAt: timestampFromMs(updatedAt) });
}
