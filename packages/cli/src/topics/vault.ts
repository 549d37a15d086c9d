import { setTimeout as wait } from "node:timers/promises";
import { AdminService, type VaultRotation, VaultRotationSchema } from "@svc/gen/admin";
import type { AdminOptions } from "../command/client.ts";
import type { CommandContext } from "../command/context.ts";
import { command, type Run } from "../command/declared.ts";
import { readSecretOption, secretOptions, secretRemark } from "../command/input.ts";
import type { JsonOption } from "../command/options.ts";
import { call, list, topic } from "../command/topic.ts";
import { messageText } from "../text/message.ts";
import { plainText } from "../text/plain.ts";
import { timeText } from "../text/table.ts";

type RotateOptions = AdminOptions & JsonOption & { watch?: true };

const everyMs = 1_000;

/** The command `svc vault rotate`, which replaces the vault key, after which svc encrypts every stored value again. */
const addVaultRotate = command(
  AdminService.method.rotateVault,
  {
    says: "replace the vault key: svc seals every value again in the background",
    options: [["--watch", "wait until it is done, and show the progress"]],
    json: "the rotation as JSON",
    examples: ["svc vault rotate", "svc vault rotate --watch"],
  },
  async ({ values: options, context, admin }: Run<RotateOptions>) => {
    let { rotation } = await admin().admin.rotateVault({});
    let told = "";
    const tell = (now: VaultRotation) => {
      const line = rotationLine(now);
      if (line !== told) context.note(line);
      told = line;
    };
    while (options.watch === true && rotation !== undefined && rotation.state !== "done") {
      tell(rotation);
      await wait(everyMs);
      ({ rotation } = await admin().admin.getVaultRotation({}));
    }
    printRotation(rotation, options, context);
  },
);

/** Prints the state of the vault key's rotation (replacement by a new key), or that the key was never rotated. */
function printRotation(
  rotation: VaultRotation | undefined,
  { json }: JsonOption,
  { print }: Pick<CommandContext, "print">,
): void {
  if (rotation === undefined) print(json ? "null" : "the vault key was never rotated");
  else print(json ? messageText(VaultRotationSchema, rotation) : rotationLine(rotation));
}

/** Returns the state of the vault key's rotation (replacement by a new key) as one line. */
function rotationLine(rotation: VaultRotation): string {
  const { state, toKeyId, fromKeyIds, resealed, finishedAt, problem } = rotation;
  const values = `${resealed} ${resealed === 1 ? "value" : "values"} sealed again`;
  const told = problem === "" ? "" : `; ${plainText(problem)}`;
  if (state === "done")
    return `done ${timeText(finishedAt)}: ${values}, ${fromKeyIds.join(", ")} refused, ${toKeyId} in use${told}`;
  return `${state}: ${values}${progressText(rotation)}${told}`;
}

function progressText({ state, pass, seen, total }: VaultRotation): string {
  if (state !== "resealing") return "";
  return `, pass ${pass}, ${seen} of about ${Math.max(total, seen)} rows looked at`;
}

const { putDeploymentSecret, deleteDeploymentSecret, listDeploymentSecrets, getVaultRotation } = AdminService.method;

/** The commands `svc vault rotate|status|put|delete|list`, for the vault key and the secrets of the deployment itself. */
export const addVaultCommand = topic({
  says: "rotate the vault key and store secrets of the deployment itself, as the administrator",
  examples: ["svc vault rotate --watch", "svc vault status", "svc vault put embeddings_key --secret-stdin < token"],
  commands: {
    rotate: addVaultRotate,
    status: command(
      getVaultRotation,
      {
        says: "show the progress of the last rotation of the vault key",
        isDefault: true,
        json: "the rotation as JSON",
        examples: ["svc vault status"],
      },
      async ({ values, context, admin }) =>
        printRotation((await admin().admin.getVaultRotation({})).rotation, values, context),
    ),
    put: call(putDeploymentSecret, {
      says: "store a secret of the deployment itself, or replace its value",
      takes: { "<name>": "embeddings_key or oidc_client_secret, the secret of svc at the identity provider" },
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
          : "Every node uses it within seconds, unless its environment has SVC_EMBEDDINGS_KEY or SVC_OIDC_CLIENT_SECRET, which take precedence.",
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
      shows: "{name} was erased",
      examples: ["svc vault delete embeddings_key"],
    }),
    list: list(listDeploymentSecrets, {
      says: "list the names of the deployment's own secrets; svc never shows their values",
      rows: "secrets",
      table: { NAME: ({ name }) => name, CREATED: "createdAt", "VALUE OF": "updatedAt" },
      json: "the secrets as a JSON list",
      examples: ["svc vault list"],
    }),
  },
});
