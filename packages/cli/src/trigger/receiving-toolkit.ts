import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Toolkit, Webhook } from "@svc/catalog";
import { localConfig } from "../client/local-config.ts";
import type { CommandContext } from "../command/context.ts";
import { CommandError } from "../command/error.ts";
import type { TriggerFile } from "./sample-post.ts";

/** A toolkit that takes inbound posts. */
export type ReceivingToolkit = Toolkit & { readonly webhook: Webhook };

/** Loads the definitions that a local server has and finds a toolkit that takes posts. Rejects with CommandError, or DefinitionError. */
export async function findReceivingToolkit(
  slug: string,
  context: CommandContext,
): Promise<{ toolkit: ReceivingToolkit; folders: readonly string[] }> {
  const { toolkitFolders: folders, deploymentFile } = await localConfig(context, "SVC_TOOLKITS", "SVC_DEPLOYMENT");
  const { loadCatalog, loadDeployment } = await import("@svc/catalog");
  const deployment = deploymentFile === undefined ? undefined : await loadDeployment(deploymentFile);
  const { toolkits } = await loadCatalog({ folders, deployment });
  const toolkit = toolkits.get(slug);
  if (toolkit !== undefined && takesPosts(toolkit)) return { toolkit, folders };
  const slugs = [...toolkits.values()].filter(takesPosts).map((known) => known.slug);
  const fault = toolkit === undefined ? `there is no toolkit "${slug}"` : `toolkit "${slug}" takes no inbound posts`;
  throw new CommandError(`${fault} in ${folders.join(", ")}; those that take posts: ${slugs.join(", ") || "none"}`);
}

/** Whether a toolkit declares a webhook. */
export function takesPosts(toolkit: Toolkit): toolkit is ReceivingToolkit {
  return toolkit.webhook !== undefined;
}

/** Reads a trigger's definition (default: the first trigger's) as it was written, which a sample needs. Rejects with CommandError. */
export async function readTriggerFile(
  folders: readonly string[],
  { slug, triggers }: ReceivingToolkit,
  name?: string,
): Promise<TriggerFile> {
  const trigger =
    name === undefined ? triggers[0] : triggers.find((known) => known.name === name || known.slug === name);
  if (trigger === undefined) {
    const names = triggers.map((known) => known.name).join(", ") || "none";
    throw new CommandError(`toolkit "${slug}" has no trigger "${name ?? ""}"; it has: ${names}`);
  }
  const { parse } = await import("yaml");
  for (const folder of folders) {
    const text = await readFile(join(folder, slug, "tools", `${trigger.name}.yaml`), "utf8").catch(() => undefined);
    if (text !== undefined) return parse(text) as TriggerFile;
  }
  throw new CommandError(`the definition of ${trigger.slug} is gone from ${folders.join(", ")}`);
}
