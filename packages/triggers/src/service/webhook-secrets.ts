import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import { catalogFaults, type Webhook } from "@svc/catalog";
import { createId, isPrintableText, requireId, requireProject } from "@svc/core";
import { type WebhookSecretRow, webhookSecretsForProject } from "@svc/db/secrets/webhook-secrets";
import type { TriggersService } from "@svc/gen/triggers";
import { triggerFaults } from "../errors.ts";
import { webhookSecretContext } from "../private-webhooks.ts";
import { generateWebhookSecret, secretForm } from "../verify.ts";
import type { TriggersContext } from "./context.ts";
import { readOverlap } from "./subscription-secret.ts";

/** Maximum number of secrets of one webhook that are valid at the same time. */
const secretsMax = 5;
const characters = { min: 8, max: 512 };

/** Returns the methods PutWebhookSecret and DeleteWebhookSecret. */
export function webhookSecretMethods({
  db,
  views,
  clock,
  sealer,
}: TriggersContext): Pick<ServiceImpl<typeof TriggersService>, "putWebhookSecret" | "deleteWebhookSecret"> {
  return {
    async putWebhookSecret({ toolkitSlug, value: given, overlap }, ctx) {
      const { projectId } = requireProject(ctx);
      const { toolkits } = await views.forProject(projectId);
      const toolkit = toolkits.get(toolkitSlug);
      if (toolkit?.ownerProjectId !== projectId)
        throw catalogFaults.TOOLKIT_NOT_FOUND("toolkitSlug", toolkitSlug, { toolkits });
      const { webhook } = toolkit;
      if (webhook === undefined) throw triggerFaults.TOOLKIT_WITHOUT_WEBHOOK(toolkitSlug);
      const overlapMs = readOverlap(overlap);
      const value = given === "" ? generateWebhookSecret(webhook) : requireSecret(webhook, given);
      const createdAt = clock.now();
      const id = createId("wsc", createdAt);
      await sealer.ready([projectId]);
      const sealed = sealer.seal(Buffer.from(value, "utf8"), webhookSecretContext(projectId, id));
      const put = await webhookSecretsForProject(db, projectId).put(
        { id, toolkitSlug, value: sealed, createdAt },
        { formerEndsAt: createdAt + overlapMs, most: secretsMax },
      );
      views.forget(projectId);
      if (put === "no_toolkit") throw catalogFaults.TOOLKIT_NOT_FOUND("toolkitSlug", toolkitSlug, { toolkits });
      if (put === "too_many") throw triggerFaults.WEBHOOK_SECRETS_TOO_MANY(toolkitSlug, secretsMax);
      return { secret: webhookSecretFields({ id, createdAt, endsAt: null }), value: given === "" ? value : "" };
    },

    async deleteWebhookSecret(request, ctx) {
      const { projectId } = requireProject(ctx);
      const id = requireId("wsc", "id", request.id);
      const isDeleted = await webhookSecretsForProject(db, projectId).delete(id);
      views.forget(projectId);
      if (!isDeleted) throw triggerFaults.WEBHOOK_SECRET_NOT_FOUND("id", id);
      return {};
    },
  };
}

function requireSecret(webhook: Webhook, value: string): string {
  if (!isPrintableText(value, characters.max) || [...value].length < characters.min)
    throw triggerFaults.WEBHOOK_SECRET_INVALID(`${characters.min} to ${characters.max} characters without line breaks`);
  if (webhook.secretOf(value) === undefined) throw triggerFaults.WEBHOOK_SECRET_INVALID(secretForm(webhook));
  return value;
}

/** Returns the fields of the API message about a webhook secret: its id and times, but not the secret itself. */
export function webhookSecretFields({ id, createdAt, endsAt }: Pick<WebhookSecretRow, "id" | "createdAt" | "endsAt">) {
  return {
    id,
    createdAt: timestampFromMs(createdAt),
    ...(endsAt !== null && { endsAt: timestampFromMs(endsAt) }),
  };
}
