import { idOfUuid, isoTime, type KeyId, type ProjectId, type Quotas, uuidOfId } from "@svc/core";
import type { Executor } from "../connect.ts";
import { quotasDocument } from "../documents/document.ts";
import { touchSubscriptionRouting } from "../projects/repo.ts";
import { subscriptions } from "../schema/triggers.ts";
import type { ProjectHold } from "../schema/words.ts";
import { fieldsOf, type Row } from "../sql/codec.ts";
import { compose, query } from "../sql/compose.ts";
import { type RawRow, rows, selectList } from "../sql/select-list.ts";
import { arrayLiteral, statement } from "../sql/statement.ts";

/** Columns of an active subscription that are needed to route events to it and to deliver them. The secrets are encrypted. */
export type RoutedSubscription = Readonly<Row<typeof subscriptions, RoutedColumn>> & { projectId: ProjectId };

const routedColumns = [
  "id",
  "endpointUrl",
  "toolkitSlug",
  "triggerSlug",
  "triggerSlugs",
  "signingSecret",
  "entityId",
  "mcpId",
  "cursor",
  "expiresAt",
  "formerSecret",
  "formerUntil",
  "settings",
  "credentials",
  "origin",
] as const;
type RoutedColumn = (typeof routedColumns)[number];

/**
 * Routing of one project, read as of one moment. `version`: routing version. `subscriptions`: active ones without an entity (customer or
 * user). `subscribedTriggers`: triggers to which the project's standing programs (schedules) subscribe. `quotas`: configured quotas.
 */
export type ProjectRouting = {
  version: number;
  /** State of a move of the project to another cell. While it is set, the project takes no posts here. `to`: the other cell. */
  hold: HeldProject | undefined;
  quotas: Quotas;
  subscriptions: RoutedSubscription[];
  subscribedTriggers: readonly string[];
  /**
   * Versions of the project's shards (groups of entities, which are customers or users), by number of the shard. A shard that is absent has
   * version 0. Undefined if no subscription of the project ever had an entity. In this case, `readEntityRouting` would find no
   * subscriptions.
   */
  shards: Map<number, number> | undefined;
};

/**
 * Subscriptions of one entity (customer or user), read as of one moment. `shard`: number of the entity's shard, a group of entities.
 * `version`: version of this shard, which grows with every change of a subscription of one of its entities. `subscriptions`: the entity's
 * active ones.
 */
export type EntityRouting = {
  readonly shard: number;
  readonly version: number;
  readonly subscriptions: RoutedSubscription[];
};

/**
 * A project that takes no webhook posts in this deployment, because it is moving or has moved to another cell. `hold`: state of the move.
 * `to`: the other cell.
 */
export type HeldProject = { readonly hold: Exclude<ProjectHold, "">; readonly to: string };

type RoutingRow = RawRow<Omit<RoutedSubscription, "projectId">> & {
  project_id: string;
  version: string;
  hold: ProjectHold;
  moved_to: string;
  quotas: string | null;
  heard: string[] | null;
  shards: string | null;
};

const columns = selectList(subscriptions, routedColumns, "s");

/**
 * Reads where the events of each project go: to subscriptions for all entities, and to schedules. Also reads the project's quotas and
 * version numbers.
 */
const selectRouting = statement<RoutingRow>(
  // Projects, policies and shards are found by primary keys, subscriptions by subscriptions_general, and the triggers of schedules by
  // standing_listeners_trigger.
  "read_project_routing",
  `select p.id as project_id, p.routing_version as version, p.hold, p.moved_to,
     (select quotas::text from project_policies where project_id = p.id) as quotas,
     (select array_agg(distinct trigger_slug) from standing_listeners where project_id = p.id and until_version is null) as heard,
     (select json_object_agg(shard, version)::text from routing_shards where project_id = p.id) as shards,
     ${columns.text}
   from projects p left join lateral (
     select * from subscriptions where project_id = p.id and entity_id = '' and kind = 'events' and active offset 0) s on true
   where p.id = any($1::uuid[])`,
);

/**
 * Returns the routing of several projects: their quotas, and the subscriptions that receive their events. All of it is read at the same
 * moment. A project that does not exist is absent.
 */
export async function readProjectRouting(
  db: Executor,
  ids: readonly ProjectId[],
): Promise<Map<ProjectId, ProjectRouting>> {
  const routing = new Map<ProjectId, ProjectRouting>();
  for (const row of await selectRouting(db, [arrayLiteral(ids.map(uuidOfId))])) {
    const projectId = idOfUuid("prj", row.project_id);
    const project = routing.get(projectId) ?? newRouting(row);
    routing.set(projectId, project);
    if (row.id === null) continue;
    const { project_id: _, version: _version, quotas: _quotas, heard: _heard, shards: _shards, ...held } = row;
    const { hold: _hold, moved_to: _movedTo, ...subscription } = held;
    project.subscriptions.push({ ...columns.read(subscription), projectId });
  }
  return routing;
}

function newRouting({ version, quotas, heard, shards, hold, moved_to: to }: RoutingRow): ProjectRouting {
  return {
    version: Number(version),
    hold: hold === "" ? undefined : { hold, to },
    quotas: quotas === null ? {} : quotasDocument.read(JSON.parse(quotas)),
    subscriptions: [],
    subscribedTriggers: heard ?? [],
    shards: shards === null ? undefined : versionsOf(JSON.parse(shards)),
  };
}

function versionsOf(shards: Readonly<Record<string, number>>): Map<number, number> {
  return new Map(Object.entries(shards).map(([shard, version]) => [Number(shard), version]));
}

type EntityRow = RawRow<Omit<RoutedSubscription, "projectId">> & {
  project_id: string;
  wanted: string;
  shard: number;
  version: string | null;
};

/** For each entity, reads its subscriptions and the version of its shard (the group of entities that it belongs to). */
const selectEntities = compose(
  // Many entities share a shard, so each shard is read only once. The subscriptions are found by subscriptions_entity.
  "read_entity_routing",
  { wanted: rows(fieldsOf(subscriptions, "projectId", "entityId")) },
  ({ wanted }) => query<EntityRow>`
    with wanted as materialized (
      select w.project_id, w.entity_id, routing_shard(w.entity_id) as shard from ${wanted.from("w")}
    ), versions as materialized (
      select r.project_id, r.shard, r.version from (select distinct project_id, shard from wanted) d
      cross join lateral (select * from routing_shards where project_id = d.project_id and shard = d.shard offset 0) r
    )
    select w.project_id, w.entity_id as wanted, w.shard, v.version, ${columns.text}
    from wanted w left join versions v on v.project_id = w.project_id and v.shard = w.shard
    left join lateral (
      select * from subscriptions where project_id = w.project_id and entity_id = w.entity_id and entity_id <> ''
        and kind = 'events' and active offset 0) s on true`,
);

/** Identifies an entity (customer or user) of a project. The fields have the names of columns of `subscriptions`. */
export type RoutedEntity = { readonly projectId: ProjectId; readonly entityId: string };

/**
 * Returns the subscriptions of each of the entities (customers or users) `wanted`, in the order of `wanted` and all as of the same moment.
 * The list must name each entity only once, and no `entityId` may be empty.
 */
export async function readEntityRouting(db: Executor, wanted: readonly RoutedEntity[]): Promise<EntityRouting[]> {
  const byEntity = new Map<string, EntityRouting>();
  for (const row of await selectEntities(db, { wanted })) {
    const { project_id, wanted: entityId, shard, version, ...subscription } = row;
    const projectId = idOfUuid("prj", project_id);
    const key = `${projectId} ${entityId}`;
    const entity = byEntity.get(key) ?? { shard, version: Number(version ?? 0), subscriptions: [] };
    byEntity.set(key, entity);
    if (subscription.id !== null) entity.subscriptions.push({ ...columns.read(subscription), projectId });
  }
  return wanted.map(({ projectId, entityId }) => {
    const entity = byEntity.get(`${projectId} ${entityId}`);
    if (entity === undefined) throw new Error("an entity was not read");
    return entity;
  });
}

type EndedSubscription = { readonly entity_id: string };

/**
 * Ends the subscriptions of a key, and of the grants (people's permissions for agents) that were given with this key, because these grants
 * end with it. Finds the key by primary key, grants by grants_project, subscriptions by subscriptions_key.
 */
const endOfKey = statement<EndedSubscription>(
  "end_subscriptions_of_key",
  `with ended as materialized (
    select $1::uuid as id union all
    select g.key_id from (select project_id from api_keys where id = $1::uuid offset 0) k
      cross join lateral (select key_id, voucher_key_id from grants where project_id = k.project_id offset 0) g
    where g.voucher_key_id = $1::uuid
  )
  update subscriptions s set active = false, inactive_reason = 'revoked', expires_at = $2::timestamptz
  where s.key_id = any(array(select id from ended)) and s.inactive_reason <> 'revoked' returning s.entity_id`,
);

/** Ends those subscriptions of the key $1 whose toolkit (app) is not in the list $3. Uses the index subscriptions_key. */
const endNarrowed = statement<EndedSubscription>(
  "end_narrowed_subscriptions",
  `update subscriptions s set active = false, inactive_reason = 'revoked', expires_at = $2::timestamptz
   where s.key_id = $1::uuid and s.inactive_reason <> 'revoked' and s.toolkit_slug <> all($3::text[]) returning s.entity_id`,
);

/** An API key that ends, or that is narrowed to fewer toolkits (apps). `nowMs`: present time, epoch milliseconds. */
type KeyEnd = { readonly projectId: ProjectId; readonly keyId: KeyId; readonly nowMs: number };

/**
 * Ends the subscriptions that agents created with a key, or with a grant (a person's permission for an agent) that was given with this key.
 * After the commit, svc delivers nothing to them, and the next sweep deletes them. Call it in the transaction that ends the key.
 */
export async function endSubscriptionsOfKey(tx: Executor, { projectId, keyId, nowMs }: KeyEnd): Promise<void> {
  await touchEnded(tx, projectId, await endOfKey(tx, [uuidOfId(keyId), isoTime(nowMs)]));
}

/**
 * Ends those subscriptions of a key that receive events of other toolkits (apps) than `toolkitSlugs`. If `toolkitSlugs` is empty, ends all
 * subscriptions of the key. After the commit, svc delivers nothing to them, and the next sweep deletes them.
 */
export async function endNarrowedSubscriptions(
  tx: Executor,
  { projectId, keyId, nowMs }: KeyEnd,
  toolkitSlugs: readonly string[],
): Promise<void> {
  await touchEnded(tx, projectId, await endNarrowed(tx, [uuidOfId(keyId), isoTime(nowMs), arrayLiteral(toolkitSlugs)]));
}

/**
 * Increments the routing versions of a project, or of shards (groups of entities), after subscriptions have ended. By these versions, nodes
 * notice that they must read the subscriptions again.
 */
function touchEnded(tx: Executor, projectId: ProjectId, ended: readonly EndedSubscription[]): Promise<void> {
  return touchSubscriptionRouting(
    tx,
    projectId,
    ended.map(({ entity_id }) => entity_id),
  );
}
