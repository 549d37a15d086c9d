import type { CatalogView, CatalogViews, Toolkit, Webhook, WebhookSecret } from "@svc/catalog";
import { type Clock, type ProjectId, SealError, type Sealer, timeOfId, type WebhookSecretId } from "@svc/core";
import type { Executor } from "@svc/db/connect";
import { listProjectIds } from "@svc/db/projects/repo";
import { type WebhookSecretRow, webhookSecretsForProject } from "@svc/db/secrets/webhook-secrets";

/** A toolkit (app) that receives webhook posts. */
export type WebhookToolkit = Toolkit & { webhook: Webhook };

/**
 * Returns the toolkit (app) with this slug. Returns undefined if the catalog has no such toolkit or the toolkit receives no webhook posts.
 */
export function webhookToolkit(catalog: Pick<CatalogView, "toolkits">, slug: string): WebhookToolkit | undefined {
  const toolkit = catalog.toolkits.get(slug);
  return toolkit?.webhook === undefined ? undefined : (toolkit as WebhookToolkit);
}

/** Returns the project's private toolkit (an app that the project defined itself) with this slug, if it receives webhook posts. */
export function privateWebhookToolkit(
  catalog: Pick<CatalogView, "toolkits">,
  projectId: ProjectId,
  slug: string,
): WebhookToolkit | undefined {
  const toolkit = webhookToolkit(catalog, slug);
  return toolkit?.ownerProjectId === projectId ? toolkit : undefined;
}

/**
 * A private toolkit that receives webhook posts. `secrets`: the secrets that verify posts now, newest first. `isSecretSet`: true if a
 * secret is stored for the toolkit, even one of a wrong form.
 */
export type PrivateWebhook = {
  readonly toolkit: WebhookToolkit;
  readonly secrets: readonly WebhookSecret[];
  readonly isSecretSet: boolean;
};

/**
 * The private toolkits (apps that a project defined for itself) that receive webhook posts, and their secrets. Changes made on other nodes
 * appear within 500 ms.
 */
export type PrivateWebhooks = {
  /**
   * Returns a private toolkit (a toolkit that one project has published) with its secrets. Returns undefined, without a promise, if the
   * project does not exist. The promise resolves to undefined if the toolkit does not exist.
   */
  find(projectId: ProjectId, slug: string): Promise<PrivateWebhook | undefined> | undefined;
};

/** Dependencies of the webhooks of private toolkits (apps that a project defined for itself). */
export type PrivateWebhooksOptions = {
  readonly db: Executor;
  readonly clock: Clock;
  readonly sealer: Sealer;
  readonly views: Pick<CatalogViews, "forProject">;
};

/**
 * A webhook secret. `secret`: undefined if the secret does not have the form that the toolkit requires. `endsAt`: time from which it is
 * invalid.
 */
type OpenedSecret = { readonly secret: WebhookSecret | undefined; readonly endsAt: number };

/** The stored webhook secrets of a project's private toolkits, by toolkit slug. */
type SecretsOfView = ReadonlyMap<string, readonly WebhookSecretRow[]>;

/** Creates the webhooks of private toolkits (apps that a project defined for itself) for one node. */
export function createPrivateWebhooks(options: PrivateWebhooksOptions): PrivateWebhooks {
  const { db, clock, sealer, views } = options;
  const knows = createKnownProjects(options);
  // Every change of a secret makes a new view, as changes of toolkits do.
  const rowsOf = new WeakMap<CatalogView, Promise<SecretsOfView>>();
  const openedOf = new WeakMap<readonly WebhookSecretRow[], readonly OpenedSecret[]>();
  const read = async (projectId: ProjectId): Promise<SecretsOfView> => {
    const rows = await webhookSecretsForProject(db, projectId).list(clock.now());
    return Map.groupBy(rows, ({ toolkitSlug }) => toolkitSlug);
  };
  const secretsOf = async (view: CatalogView, projectId: ProjectId, { slug, webhook }: WebhookToolkit) => {
    let reading = rowsOf.get(view);
    if (reading === undefined) {
      reading = read(projectId);
      rowsOf.set(view, reading);
      reading.catch(() => rowsOf.delete(view));
    }
    const rows = (await reading).get(slug);
    if (rows === undefined) return [];
    await sealer.ready([projectId]);
    let opened = openedOf.get(rows);
    if (opened === undefined) {
      opened = rows.map((row) => ({
        secret: openSecret(sealer, projectId, webhook, row),
        endsAt: row.endsAt ?? Number.POSITIVE_INFINITY,
      }));
      openedOf.set(rows, opened);
    }
    return opened;
  };
  const findIn = async (projectId: ProjectId, slug: string): Promise<PrivateWebhook | undefined> => {
    const view = await views.forProject(projectId);
    const toolkit = privateWebhookToolkit(view, projectId, slug);
    if (toolkit === undefined) return undefined;
    const opened = await secretsOf(view, projectId, toolkit);
    const nowMs = clock.now();
    const live = opened.filter(({ endsAt }) => endsAt > nowMs);
    return { toolkit, secrets: live.flatMap(({ secret }) => secret ?? []), isSecretSet: live.length > 0 };
  };
  return {
    find(projectId, slug) {
      const known = knows(projectId);
      if (known === false) return undefined;
      if (known === true) return findIn(projectId, slug);
      return known.then((isKnown) => (isKnown ? findIn(projectId, slug) : undefined));
    },
  };
}

/**
 * Returns the decrypted webhook secret of a private toolkit. Undefined if this process cannot decrypt the secret, or if the secret has a
 * form that the toolkit's definition does not allow.
 */
function openSecret(
  sealer: Sealer,
  projectId: ProjectId,
  webhook: Webhook,
  { id, value }: WebhookSecretRow,
): WebhookSecret | undefined {
  try {
    return webhook.secretOf(sealer.open(value, webhookSecretContext(projectId, id)).toString("utf8"));
  } catch (error) {
    if (error instanceof SealError) return undefined;
    throw error;
  }
}

/**
 * Returns the context text with which a secret of a webhook is encrypted. The secret can be decrypted only with the same text, so it cannot
 * be used in the place of another secret.
 */
export function webhookSecretContext(projectId: ProjectId, id: WebhookSecretId): string {
  return `${projectId}/webhook_secrets/${id}`;
}

/** Assumed largest difference between the clocks of two nodes, in milliseconds. */
const skewMs = 60_000;
/** Minimum time between two reads of new projects, in milliseconds. */
const newMs = 500;
/**
 * Minimum time between two reads of the ids of all projects, in milliseconds. The ids are kept in memory, so that webhook posts to invented
 * projects cause no SQL statement each.
 */
const allMs = 60_000;

/**
 * Returns a function that says if a project exists. It answers from memory, so that a stranger who sends webhook posts for invented
 * projects causes no database statements.
 * - The id of a project contains the time of its creation. An unknown id with a time in the past therefore belongs to no project.
 * - Unknown ids with the present time are looked up, all together, at most twice a second.
 * - A node whose clock is wrong by minutes may make ids with wrong times. So all ids are read again every minute.
 */
function createKnownProjects({
  db,
  clock,
}: Pick<PrivateWebhooksOptions, "db" | "clock">): (id: ProjectId) => boolean | Promise<boolean> {
  const known = new Set<ProjectId>();
  let readAt = Number.NEGATIVE_INFINITY;
  let allReadAt = Number.NEGATIVE_INFINITY;
  let reading: Promise<void> | undefined;
  const read = async (nowMs: number) => {
    const isAll = nowMs - allReadAt >= allMs;
    for (const id of await listProjectIds(db, isAll ? 0 : readAt - skewMs)) known.add(id);
    readAt = nowMs;
    if (isAll) allReadAt = nowMs;
  };
  return (id) => {
    if (known.has(id)) return true;
    const nowMs = clock.now();
    const madeAt = timeOfId(id);
    const isNew = madeAt > readAt - skewMs && madeAt < nowMs + skewMs && nowMs - readAt >= newMs;
    if (!isNew && nowMs - allReadAt < allMs) return false;
    reading ??= read(nowMs).finally(() => {
      reading = undefined;
    });
    return reading.then(() => known.has(id));
  };
}
