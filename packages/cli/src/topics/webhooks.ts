import { TriggersService } from "@svc/gen/triggers";
import { ownProjectId } from "../command/client.ts";
import { readSecretOption } from "../command/input.ts";
import { call, list, topic } from "../command/topic.ts";
import { tableLines, timeText } from "../text/table.ts";

const { listIngestEndpoints, putWebhookSecret, deleteWebhookSecret } = TriggersService.method;
const exampleId = "wsc_01h455vb4pex5vsknk084sn02q";

/** The commands `svc webhooks secrets put|list|delete`, for the webhook secrets of the project's private toolkits. */
export const addWebhooksCommand = topic({
  says: "manage the webhooks of the project's private toolkits",
  examples: ["svc webhooks secrets put help_desk", "svc webhooks secrets list"],
  commands: {
    secrets: topic({
      says: "store, list and delete the secrets that verify the posts to private toolkits",
      examples: ["svc webhooks secrets put help_desk --secret-stdin < secret", "svc webhooks secrets list"],
      commands: {
        put: call(putWebhookSecret, {
          says: "add a secret to a private toolkit's webhook; for a time, the present ones also verify posts",
          takes: { "<toolkit>": ["slug of the private toolkit", { fills: "toolkitSlug" }] },
          options: [
            [
              "--overlap <duration>",
              "how long the present secrets still verify posts, at most 7d (default: 1d)",
              { fills: "overlap" },
            ],
            ["--secret-stdin", "read the secret from standard input (default: svc generates one)"],
            ["--secret-env <name>", "read it from this environment variable"],
          ],
          request: async ({ values, context }) =>
            values["secretStdin"] === undefined && values["secretEnv"] === undefined
              ? {}
              : { value: await readSecretOption("Secret of the webhook", values, context) },
          json: "the secret and, if svc generated it, its value as JSON",
          shows: ({ secret, value }) => value || (secret?.id ?? ""),
          notes: ({ secret, value }, { asJson }) =>
            value === "" || asJson
              ? []
              : `Enter it in the app as the secret of the webhook (${secret?.id}): it is not shown again.`,
          examples: [
            "svc webhooks secrets put help_desk",
            "svc webhooks secrets put help_desk --secret-stdin --overlap 2h < secret",
          ],
        }),
        list: list(listIngestEndpoints, {
          says: "list the secrets of the project's private toolkits that have not ended; svc never shows their values",
          isDefault: true,
          request: async ({ project }) => ({ projectId: await ownProjectId(await project()) }),
          rows: "endpoints",
          keeps: ({ projectId }) => projectId !== "",
          table: (endpoints) =>
            tableLines(
              ["TOOLKIT", "ID", "CREATED", "ENDS"],
              endpoints.flatMap(({ toolkitSlug, secrets }) =>
                secrets.map(({ id, createdAt, endsAt }) => [toolkitSlug, id, timeText(createdAt), timeText(endsAt)]),
              ),
            ),
          remark: (endpoints, { asJson, context }) => {
            if (asJson) return;
            for (const { toolkitSlug, secrets } of endpoints)
              if (secrets.length === 0)
                context.note(
                  `${toolkitSlug} has no secret, so its posts are refused: \`svc webhooks secrets put ${toolkitSlug}\`.`,
                );
          },
          json: "the inbound paths of private toolkits, with their secrets, as a JSON list",
          examples: ["svc webhooks secrets list", "svc webhooks secrets list --json | jq '.[].secrets'"],
        }),
        delete: call(deleteWebhookSecret, {
          says: "end a secret at once; posts that are signed with it are refused",
          takes: { "<id>": `id of the secret, wsc_…` },
          deleted: "id",
          json: "the id as JSON",
          shows: "{id} verifies no more posts",
          examples: [`svc webhooks secrets delete ${exampleId}`],
        }),
      },
    }),
  },
});
