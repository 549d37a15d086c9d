import { createHmac } from "node:crypto";
import type { Toolkit, Trigger, Webhook } from "@svc/catalog";
import { localConfig } from "../../command/client.ts";
import type { CommandContext } from "../../command/context.ts";
import { CommandError } from "../../command/error.ts";

/** A toolkit that declares a webhook, and so receives posts from its app. */
export type ReceivingToolkit = Toolkit & { readonly webhook: Webhook };

/**
 * Loads the definitions of a local server, and returns the toolkit with this slug. Rejects with CommandError if it receives no posts, or
 * with DefinitionError.
 */
export async function findReceivingToolkit(slug: string, context: CommandContext): Promise<ReceivingToolkit> {
  const { toolkitFolders: folders, deploymentFile } = await localConfig(context, "SVC_TOOLKITS", "SVC_DEPLOYMENT");
  const { loadCatalog, loadDeployment } = await import("@svc/catalog");
  const deployment = deploymentFile === undefined ? undefined : await loadDeployment(deploymentFile);
  const { toolkits } = await loadCatalog({ folders, deployment });
  const toolkit = toolkits.get(slug);
  if (toolkit !== undefined && takesPosts(toolkit)) return toolkit;
  const slugs = [...toolkits.values()].filter(takesPosts).map((known) => known.slug);
  const fault = toolkit === undefined ? `there is no toolkit "${slug}"` : `toolkit "${slug}" does not receive posts`;
  throw new CommandError(
    `${fault} in ${folders.join(", ")}; toolkits that receive posts: ${slugs.join(", ") || "none"}`,
  );
}

/** True if a toolkit declares a webhook. */
export function takesPosts(toolkit: Toolkit): toolkit is ReceivingToolkit {
  return toolkit.webhook !== undefined;
}

/**
 * Returns the trigger of a toolkit with this name or slug. Without `name`, returns the toolkit's first trigger. Throws CommandError if
 * there is no such trigger.
 */
export function chooseTrigger({ slug, triggers }: ReceivingToolkit, name?: string): Trigger {
  const trigger =
    name === undefined ? triggers[0] : triggers.find((known) => known.name === name || known.slug === name);
  if (trigger !== undefined) return trigger;
  const names = triggers.map((known) => known.name).join(", ") || "none";
  throw new CommandError(`toolkit "${slug}" has no trigger "${name ?? ""}"; it has: ${names}`);
}

/** A post to the address of an incoming webhook, in the form in which the provider (the app) would send it. */
export type ProviderPost = { headers: Record<string, string>; query: Record<string, string>; body: Buffer };

/**
 * Returns the post with a signature by the toolkit's signature scheme. `nowMs`: the time that the scheme `slack_v0` signs, in epoch
 * milliseconds.
 */
export function signPost(webhook: Webhook, post: ProviderPost, secret: string, nowMs: number): ProviderPost {
  switch (webhook.scheme) {
    case "hmac_sha256": {
      const signature = createHmac("sha256", secret).update(post.body).digest(webhook.encoding);
      return { ...post, headers: { ...post.headers, [webhook.header]: `${webhook.prefix}${signature}` } };
    }
    case "slack_v0": {
      const timestamp = String(Math.floor(nowMs / 1000));
      const signature = createHmac("sha256", secret).update(`v0:${timestamp}:`).update(post.body).digest("hex");
      const headers = { "x-slack-request-timestamp": timestamp, "x-slack-signature": `v0=${signature}` };
      return { ...post, headers: { ...post.headers, ...headers } };
    }
    case "token_query":
      return { ...post, query: { ...post.query, [webhook.parameter]: secret } };
  }
}
