import type { Toolkit, Trigger, Webhook } from "@svc/catalog";
import { localConfig } from "../client/local-config.ts";
import type { CommandContext } from "../command/context.ts";
import { CommandError } from "../command/error.ts";

/** A toolkit that takes inbound posts. */
export type ReceivingToolkit = Toolkit & { readonly webhook: Webhook };

/** Loads the definitions that a local server has and finds a toolkit that takes posts. Rejects with CommandError, or DefinitionError. */
export async function findReceivingToolkit(slug: string, context: CommandContext): Promise<ReceivingToolkit> {
  const { toolkitFolders: folders, deploymentFile } = await localConfig(context, "SVC_TOOLKITS", "SVC_DEPLOYMENT");
  const { loadCatalog, loadDeployment } = await import("@svc/catalog");
  const deployment = deploymentFile === undefined ? undefined : await loadDeployment(deploymentFile);
  const { toolkits } = await loadCatalog({ folders, deployment });
  const toolkit = toolkits.get(slug);
  if (toolkit !== undefined && takesPosts(toolkit)) return toolkit;
  const slugs = [...toolkits.values()].filter(takesPosts).map((known) => known.slug);
  const fault = toolkit === undefined ? `there is no toolkit "${slug}"` : `toolkit "${slug}" takes no inbound posts`;
  throw new CommandError(`${fault} in ${folders.join(", ")}; those that take posts: ${slugs.join(", ") || "none"}`);
}

/** Whether a toolkit declares a webhook. */
export function takesPosts(toolkit: Toolkit): toolkit is ReceivingToolkit {
  return toolkit.webhook !== undefined;
}

/** A trigger of a toolkit by its name or slug, the first where none is named. Throws CommandError where there is none. */
export function chooseTrigger({ slug, triggers }: ReceivingToolkit, name?: string): Trigger {
  const trigger =
    name === undefined ? triggers[0] : triggers.find((known) => known.name === name || known.slug === name);
  if (trigger !== undefined) return trigger;
  const names = triggers.map((known) => known.name).join(", ") || "none";
  throw new CommandError(`toolkit "${slug}" has no trigger "${name ?? ""}"; it has: ${names}`);
}
