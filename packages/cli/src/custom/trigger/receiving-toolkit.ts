import type { Toolkit, Trigger, UnsignedPost, Webhook } from "@svc/catalog";
import { localConfig } from "../../command/client.ts";
import type { CommandContext } from "../../command/context.ts";
import { CommandError } from "../../command/error.ts";

/** A toolkit that declares a webhook, and so receives posts from its app. */
export type ReceivingToolkit = Toolkit & { readonly webhook: Webhook };

/**
 * Loads the definitions that a local server would use, and returns the toolkit with this slug. Rejects with CommandError if the toolkit
 * does not exist or receives no webhook posts. Rejects with DefinitionError if the definitions contain errors.
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

/**
 * Returns the post as the app would sign it, by the toolkit's definition. Rejects with CommandError if the secret cannot be a key, or if the
 * post lacks a value that the signature covers.
 */
export function signPost(
  { slug, webhook }: ReceivingToolkit,
  post: UnsignedPost,
  secret: string,
  at: { readonly nowMs: number; readonly publicUrl: string },
): UnsignedPost {
  const key = webhook.secretOf(secret);
  if (key === undefined) {
    const { encoding = "" } = (webhook.parameters.secret ?? {}) as { encoding?: string };
    throw new CommandError(`the secret is not ${encoding}, as the definition of "${slug}" requires`);
  }
  try {
    return webhook.sign(post, key, at);
  } catch (error) {
    throw new CommandError(`the post cannot be signed as the definition of "${slug}" requires: ${String(error)}`);
  }
}
