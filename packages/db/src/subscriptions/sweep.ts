import { isoTime, type ProjectId, uuidOfId } from "@svc/core";
import { type SQL, sql } from "drizzle-orm";
import { type Executor, withTransaction } from "../connect.ts";
import { touchSubscriptionRouting } from "../projects/repo.ts";
import { subscriptions } from "../schema/index.ts";
import { namesBut, type Row } from "../sql/codec.ts";
import { type RawRow, selectList } from "../sql/select-list.ts";
import { arrayLiteral, statement } from "../sql/statement.ts";
import type { Subscription } from "./repo.ts";

const columns = selectList(subscriptions, namesBut(subscriptions), "s");

/** Finds subscriptions that have expired, by the oldest entries of the index subscriptions_expires. */
const selectEnded = statement<RawRow<Row<typeof subscriptions>>>(
  "find_ended_subscriptions",
  `select ${columns.text} from subscriptions s where s.expires_at <= $1::timestamptz order by s.expires_at, s.id limit $2::int4`,
);

/** Returns up to `limit` subscriptions whose expiry time has passed at `nowMs`, those that expired first. */
export async function findEndedSubscriptions(db: Executor, nowMs: number, limit: number): Promise<Subscription[]> {
  const rows = await selectEnded(db, [isoTime(nowMs), limit]);
  return rows.map((row) => columns.read(row));
}

/**
 * Deletes those of the given subscriptions that are still expired, and returns the deleted ones. If several callers delete the same
 * subscription, only one of them gets it back.
 */
export async function deleteEndedSubscriptions(
  db: Executor,
  ended: readonly Subscription[],
  nowMs: number,
): Promise<Subscription[]> {
  const byProject = Map.groupBy(ended, ({ projectId }) => projectId);
  const gone: Subscription[] = [];
  // Goes through the projects in a fixed order, because each deletion locks its project's row and two nodes could otherwise deadlock.
  for (const projectId of [...byProject.keys()].sort()) {
    gone.push(...(await deleteOfProject(db, projectId, byProject.get(projectId) ?? [], nowMs)));
  }
  return gone;
}

function deleteOfProject(db: Executor, projectId: ProjectId, ended: readonly Subscription[], nowMs: number) {
  return withTransaction(db, async (tx) => {
    const present = await tx.orm
      .select()
      .from(subscriptions)
      .where(isOneOf(ended))
      .orderBy(subscriptions.id)
      .for("update");
    const over = present.filter(({ expiresAt }) => expiresAt !== null && expiresAt <= nowMs);
    if (over.length === 0) return over;
    await tx.orm.delete(subscriptions).where(isOneOf(over));
    await touchSubscriptionRouting(
      tx,
      projectId,
      over.map(({ entityId }) => entityId),
    );
    return over;
  });
}

/**
 * Returns the condition that a row is one of these subscriptions. Its SQL text is the same for any number of them. Uses the primary key,
 * which identifies a subscription without its project.
 */
function isOneOf(those: readonly Subscription[]): SQL {
  return sql`${subscriptions.id} = any(${arrayLiteral(those.map(({ id }) => uuidOfId(id)))}::uuid[])`;
}
