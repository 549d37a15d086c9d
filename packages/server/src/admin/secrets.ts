import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import { type AdminService, type DeploymentSecret, DeploymentSecretSchema } from "@svc/gen/admin";
import { isDeploymentSecretName, isDeploymentSecretValue } from "@svc/node";
import type { AdminContext } from "./context.ts";
import { adminFaults } from "./errors.ts";

/** Returns the methods of AdminService for secrets of the deployment itself. */
export function secretMethods({
  deploymentSecrets,
}: AdminContext): Pick<
  ServiceImpl<typeof AdminService>,
  "putDeploymentSecret" | "deleteDeploymentSecret" | "listDeploymentSecrets"
> {
  return {
    async putDeploymentSecret({ name, value }) {
      if (!isDeploymentSecretName(name)) throw adminFaults.DEPLOYMENT_SECRET_UNKNOWN(name);
      if (!isDeploymentSecretValue(value)) throw adminFaults.DEPLOYMENT_SECRET_INVALID();
      return { secret: secretMessage(await deploymentSecrets.put(name, value)) };
    },
    async deleteDeploymentSecret({ name }) {
      if (!isDeploymentSecretName(name)) throw adminFaults.DEPLOYMENT_SECRET_UNKNOWN(name);
      if (!(await deploymentSecrets.delete(name))) throw adminFaults.DEPLOYMENT_SECRET_NOT_FOUND(name);
      return {};
    },
    async listDeploymentSecrets() {
      return { secrets: (await deploymentSecrets.list()).map(secretMessage) };
    },
  };
}

function secretMessage({
  name,
  createdAt,
  updatedAt,
}: {
  name: string;
  createdAt: number;
  updatedAt: number;
}): DeploymentSecret {
  return create(DeploymentSecretSchema, {
    name,
    createdAt: timestampFromMs(createdAt),
    updatedAt: timestampFromMs(updatedAt),
  });
}
