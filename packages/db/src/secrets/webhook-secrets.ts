import { isoTime, type ProjectId, uuidOfId, type WebhookSecretId } from "@svc/core";
import { and, asc, desc, eq, gt, isNull, lte, ne, notExists, or, sql } from "drizzle-orm";
import { alias } from "drizzle-orm/pg-core";
import { touchCatalog } from "../catalog/touch.ts";
import { type Executor, withTransaction } from "../connect.ts";
import { privateToolkits, webhookSecrets } from "../schema/index.ts";
import type { Row } from "../sql/codec.ts";
import { plainArrayLiteral, statement } from "../sql/statement.ts";

/**
 * A secret of the webhook of a private toolkit (an app that a project defined for itself). `value`: the encrypted secret. `endsAt`: time
 * from which the secret verifies no webhook posts; null if it has no end.
 */
export type WebhookSecretRow = Omit<Row<typeof webhookSecrets>, "projectId">;

/**
 * Result of storing a secret. `no_toolkit`: the project has no private toolkit (app definition of its own) with the slug. `too_many`: the
 * webhook would have more live secrets than it may have. Nothing is stored then.
 */
export type PutWebhookSecretResult = "put" | "no_toolkit" | "too_many";

/**
 * The secrets of the webhooks of one project's private toolkits (apps that it defined itself). Every change increments the project's
 * catalog version in the same transaction, so that all nodes read them again.
 */
export type WebhookSecretRepository = {
  /** Returns the webhook secrets that are valid at a time, sorted by toolkit (app), the newest of a toolkit first. */
  list(nowMs: number): Promise<WebhookSecretRow[]>;
  /**
   * Stores a webhook secret of a toolkit (app). The toolkit's other secrets end at `formerEndsAt`, or earlier if they already had an
   * earlier end. Secrets of the toolkit that have ended when the new secret is created are deleted. `most`: maximum number of live secrets
   * of a toolkit.
   */
  put(
    secret: Omit<WebhookSecretRow, "endsAt">,
    limits: { readonly formerEndsAt: number; readonly most: number },
  ): Promise<PutWebhookSecretResult>;
  /**
   * Returns secrets that end between two times, if their toolkit (app) then has no other secret with which svc can verify its webhook
   * posts.
   */
  listLast(fromMs: number, untilMs: number): Promise<Omit<WebhookSecretRow, "value" | "createdAt">[]>;
  /** Deletes a secret. Returns false if the project has no secret with this id. */
  delete(id: WebhookSecretId): Promise<boolean>;
};

const columns = {
  id: webhookSecrets.id,
  toolkitSlug: webhookSecrets.toolkitSlug,
  value: webhookSecrets.value,
  createdAt: webhookSecrets.createdAt,
  endsAt: webhookSecrets.endsAt,
};

/** The table of webhook secrets under a second name, for a query that looks for a later secret of the same toolkit (app). */
const successors = alias(webhookSecrets, "successors");

/** Returns the SQL condition that a secret is valid at the time `ms`. */
function livesAt(ms: number) {
  return or(isNull(webhookSecrets.endsAt), gt(webhookSecrets.endsAt, ms));
}

/** Returns the functions that read and change the secrets with which svc verifies webhook posts to one project's private toolkits. */
export function webhookSecretsForProject(db: Executor, projectId: ProjectId): WebhookSecretRepository {
  const ofProject = eq(webhookSecrets.projectId, projectId);
  return {
    list: (nowMs) =>
      db.orm
        .select(columns)
        .from(webhookSecrets)
        .where(and(ofProject, livesAt(nowMs)))
        .orderBy(asc(webhookSecrets.toolkitSlug), desc(webhookSecrets.id)),
    put: (secret, { formerEndsAt, most }) =>
      withTransaction(db, async (tx) => {
        // Locks the project's row. So if two secrets are stored at the same time, only one of them can be the last allowed one.
        await touchCatalog(tx, projectId);
        const { toolkitSlug, createdAt } = secret;
        const isToolkit = and(eq(privateToolkits.projectId, projectId), eq(privateToolkits.slug, toolkitSlug));
        if ((await tx.orm.$count(privateToolkits, isToolkit)) === 0) return "no_toolkit";
        const ofToolkit = and(ofProject, eq(webhookSecrets.toolkitSlug, toolkitSlug));
        const others = await tx.orm.$count(webhookSecrets, and(ofToolkit, livesAt(createdAt)));
        if (formerEndsAt > createdAt && others >= most) return "too_many";
        const ended = webhookSecrets.endsAt.mapToDriverValue(formerEndsAt);
        await tx.orm
          .update(webhookSecrets)
          .set({ endsAt: sql`least(${webhookSecrets.endsAt}, ${ended}::timestamptz)` })
          .where(ofToolkit);
        await tx.orm.delete(webhookSecrets).where(and(ofToolkit, lte(webhookSecrets.endsAt, createdAt)));
        await tx.orm.insert(webhookSecrets).values({ ...secret, projectId, endsAt: null });
        return "put";
      }),
    listLast(fromMs, untilMs) {
      const { id, toolkitSlug, endsAt } = columns;
      const isLater = or(isNull(successors.endsAt), gt(successors.endsAt, endsAt));
      const ofToolkit = and(eq(successors.projectId, projectId), eq(successors.toolkitSlug, toolkitSlug));
      const successor = db.orm
        .select()
        .from(successors)
        .where(and(ofToolkit, ne(successors.id, id), isLater));
      return db.orm
        .select({ id, toolkitSlug, endsAt })
        .from(webhookSecrets)
        .where(and(ofProject, gt(endsAt, fromMs), lte(endsAt, untilMs), notExists(successor)));
    },
    delete: (id) =>
      withTransaction(db, async (tx) => {
        await touchCatalog(tx, projectId);
        const rows = await tx.orm
          .delete(webhookSecrets)
          .where(and(eq(webhookSecrets.id, id), ofProject))
          .returning({ id: webhookSecrets.id });
        return rows.length > 0;
      }),
  };
}

/** Deletes webhook secrets whose end time has passed, for the given projects. */
const sweepSecrets = statement<{ id: string }>(
  "sweep_webhook_secrets",
  // A project has few secrets. So all of them are read, and there is no index by the time at which a secret ends.
  `delete from webhook_secrets where id = any(array(
     select w.id from unnest($1::uuid[]) as p(id) cross join lateral (
       select id from webhook_secrets where project_id = p.id and ends_at <= $2::timestamptz offset 0) w))
   returning id`,
);

/** Deletes the ended webhook secrets of these projects, and returns how many it deleted. */
export async function sweepWebhookSecrets(
  db: Executor,
  projectIds: readonly ProjectId[],
  nowMs: number,
): Promise<number> {
  return (await sweepSecrets(db, [plainArrayLiteral(projectIds.map(uuidOfId)), isoTime(nowMs)])).length;
}
