import { AdminService } from "@svc/gen/admin";
import { command } from "../command/declared.ts";
import { readSecretOption, secretOptions, secretRemark } from "../command/secret.ts";
import { call, list, topic } from "../command/topic.ts";
import { addVaultRotate, printRotation } from "../custom/rotate-vault.ts";

const { putDeploymentSecret, deleteDeploymentSecret, listDeploymentSecrets, getVaultRotation } = AdminService.method;

/** `svc vault rotate|status|put|delete|list`. */
export const addVaultCommand = topic({
  says: "rotate the vault key and keep secrets of the deployment itself, as the administrator",
  examples: ["svc vault rotate --watch", "svc vault status", "svc vault put embeddings_key --secret-stdin < token"],
  commands: {
    rotate: addVaultRotate,
    status: command(
      getVaultRotation,
      {
        says: "tell how far the last rotation of the vault key is",
        isDefault: true,
        json: "the rotation as JSON",
        examples: ["svc vault status"],
      },
      async ({ values, context, admin }) =>
        printRotation((await admin().admin.getVaultRotation({})).rotation, values, context),
    ),
    put: call(putDeploymentSecret, {
      says: "keep a secret of the deployment itself, or give it a new value",
      takes: { "<name>": "embeddings_key: the bearer token of the embeddings endpoint" },
      options: secretOptions,
      request: async ({ admin, values, context }) => {
        admin();
        return { value: await readSecretOption("Value of the secret", values, context) };
      },
      result: "secret",
      json: "the secret as JSON, without its value",
      shows: ({ secret }) => secret?.name ?? "",
      notes: (_, { asJson }) =>
        asJson
          ? []
          : "Every node sends it within seconds, unless its environment has SVC_EMBEDDINGS_KEY, which comes first.",
      more: secretRemark,
      examples: [
        "svc vault put embeddings_key --secret-stdin < token",
        "svc vault put embeddings_key --secret-env TOKEN",
      ],
    }),
    delete: call(deleteDeploymentSecret, {
      says: "erase a secret of the deployment itself",
      takes: { "<name>": "name of the secret" },
      deleted: "name",
      json: "the name as JSON",
      shows: "{name} is erased",
      examples: ["svc vault delete embeddings_key"],
    }),
    list: list(listDeploymentSecrets, {
      says: "list the names of the secrets that the deployment itself keeps; nobody reads a value back",
      rows: "secrets",
      table: { NAME: ({ name }) => name, CREATED: "createdAt", "VALUE OF": "updatedAt" },
      json: "the secrets as a JSON list",
      examples: ["svc vault list"],
    }),
  },
});
