import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Toolkit, Trigger, UnsignedPost, Webhook } from "@svc/catalog";
import type { ProjectId } from "@svc/core";
import { localConfig } from "../../command/client.ts";
import type { CommandContext } from "../../command/context.ts";
import { CommandError } from "../../command/error.ts";
import { countText } from "../../text/table.ts";
import { parsePrivateFolder, readToolkitFolder } from "../toolkits/toolkit-folder.ts";

/** A toolkit (one app with its tools) that declares a webhook, and so receives posts from its app. */
export type ReceivingToolkit = Toolkit & { readonly webhook: Webhook };

/**
 * Loads the definitions that a local server would use, and returns the toolkit (one app's tools and webhooks) with this slug. Rejects with
 * CommandError if the toolkit does not exist or receives no webhook posts. Rejects with DefinitionError if the definitions contain errors.
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

/**
 * Loads the definition of a private toolkit (a toolkit that one project has published), by the rules of publishing. `given`: the folder of
 * the toolkit, or its slug if the folder is below SVC_TOOLKITS. Rejects with CommandError if there is no such folder, if its files have
 * errors, or if the toolkit receives no webhook posts.
 */
export async function findPrivateToolkit(
  given: string,
  projectId: string,
  context: CommandContext,
): Promise<ReceivingToolkit> {
  const { toolkitFolders } = await localConfig(context, "SVC_TOOLKITS");
  const places = [given, ...toolkitFolders.map((folder) => join(folder, given))];
  const folder = places.find((place) => existsSync(join(place, "toolkit.yaml")));
  if (folder === undefined)
    throw new CommandError(
      `there is no toolkit.yaml in ${places.join(", ")}; name the folder of the private toolkit, such as my-toolkits/help_desk`,
    );
  const parsed = await parsePrivateFolder(await readToolkitFolder(folder), projectId as ProjectId);
  if ("faults" in parsed)
    throw new CommandError(
      `${countText(parsed.faults.length, "problem")} in ${folder}: \`svc toolkits check --private ${folder}\` lists them`,
    );
  if (takesPosts(parsed.toolkit)) return parsed.toolkit;
  throw new CommandError(`toolkit "${parsed.toolkit.slug}" in ${folder} does not receive posts: it has no webhook`);
}

/** True if a toolkit (the tools and webhooks of one app) declares a webhook. */
export function takesPosts(toolkit: Toolkit): toolkit is ReceivingToolkit {
  return toolkit.webhook !== undefined;
}

/**
 * Returns the trigger (event type) of an app with this name or slug. Without `name`, returns the app's first trigger. Throws CommandError
 * if there is no such trigger.
 */
export function chooseTrigger({ slug, triggers }: ReceivingToolkit, name?: string): Trigger {
  const trigger =
    name === undefined ? triggers[0] : triggers.find((known) => known.name === name || known.slug === name);
  if (trigger !== undefined) return trigger;
  const names = triggers.map((known) => known.name).join(", ") || "none";
  throw new CommandError(`toolkit "${slug}" has no trigger "${name ?? ""}"; it has: ${names}`);
}

/**
 * Returns the webhook post as the app would sign it, by the definition of the app's toolkit. Rejects with CommandError if the secret cannot
 * be a key, or if the post lacks a value that the signature covers.
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
