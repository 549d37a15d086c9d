import { SecretsService } from "@svc/gen/secrets";
import { readSecretOption, secretOptions, secretRemark } from "../command/input.ts";
import { call, list, topic } from "../command/topic.ts";

const { listSecrets, putSecret, deleteSecret } = SecretsService.method;

/** The commands `svc secrets list|put|delete`, for named secrets, which jobs can use and cannot read. */
export const addSecretsCommand = topic({
  says: "store, delete and list secrets that programs send by name",
  examples: ["svc secrets", "svc secrets put billing_token --secret-stdin < token"],
  commands: {
    list: list(listSecrets, {
      says: "list the names of the project's secrets; svc never shows their values",
      isDefault: true,
      rows: "secrets",
      table: { NAME: ({ name }) => name, CREATED: "createdAt", "VALUE OF": "updatedAt" },
      json: "the secrets as a JSON list",
      examples: ["svc secrets list"],
    }),
    put: call(putSecret, {
      says: "store a secret, or replace its value",
      takes: { "<name>": "name that programs use" },
      options: secretOptions,
      request: async ({ project, values, context }) => {
        await project();
        return { value: await readSecretOption("Value of the secret", values, context) };
      },
      result: "secret",
      json: "the secret as JSON, without its value",
      shows: ({ secret }) => secret?.name ?? "",
      notes: ({ secret }, { asJson }) => (asJson ? [] : `Programs send it in place of {"$secret": "${secret?.name}"}.`),
      more: secretRemark,
      examples: [
        "svc secrets put billing_token --secret-stdin < token",
        "svc secrets put billing_token --secret-env BILLING_TOKEN",
      ],
    }),
    delete: call(deleteSecret, {
      says: "erase a secret; later requests of jobs that need it fail",
      takes: { "<name>": "name of the secret" },
      deleted: "name",
      json: "the name as JSON",
      shows: "{name} was erased",
      examples: ["svc secrets delete billing_token"],
    }),
  },
});
