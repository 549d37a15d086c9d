import { SecretsService } from "@svc/gen/secrets";
import { readSecretOption, secretOptions, secretRemark } from "../command/input.ts";
import { call, list, topic } from "../command/topic.ts";

const { listSecrets, putSecret, deleteSecret } = SecretsService.method;

/** `svc secrets list|put|delete`. */
export const addSecretsCommand = topic({
  says: "put, delete and list what programs send by name",
  examples: ["svc secrets", "svc secrets put billing_token --secret-stdin < token"],
  commands: {
    list: list(listSecrets, {
      says: "list the names of the project's secrets; nobody reads a value back",
      isDefault: true,
      rows: "secrets",
      table: { NAME: ({ name }) => name, CREATED: "createdAt", "VALUE OF": "updatedAt" },
      json: "the secrets as a JSON list",
      examples: ["svc secrets list"],
    }),
    put: call(putSecret, {
      says: "keep a secret, or give it a new value",
      takes: { "<name>": "name by which programs send it" },
      options: secretOptions,
      request: async ({ project, values, context }) => {
        await project();
        return { value: await readSecretOption("Value of the secret", values, context) };
      },
      result: "secret",
      json: "the secret as JSON, without its value",
      shows: ({ secret }) => secret?.name ?? "",
      notes: ({ secret }, { asJson }) =>
        asJson ? [] : `Programs send it where {"$secret": "${secret?.name}"} stands.`,
      more: secretRemark,
      examples: [
        "svc secrets put billing_token --secret-stdin < token",
        "svc secrets put billing_token --secret-env BILLING_TOKEN",
      ],
    }),
    delete: call(deleteSecret, {
      says: "erase a secret; what jobs send with it from then on fails",
      takes: { "<name>": "name of the secret" },
      deleted: "name",
      json: "the name as JSON",
      shows: "{name} is erased",
      examples: ["svc secrets delete billing_token"],
    }),
  },
});
