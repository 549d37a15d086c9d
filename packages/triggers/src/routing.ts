import type { Audience } from "@svc/catalog";
import { LeastRecentlyUsed, type ProjectId, type Quotas } from "@svc/core";
import { type AccountReference, findAccountReferences } from "@svc/db/account-references/repo";
import type { Executor } from "@svc/db/connect";
import type { RoutingSnapshot, ShardVersion } from "@svc/db/events/record";
import { readDeploymentRouting } from "@svc/db/projects/repo";
import {
  type EntityRouting,
  type HeldProject,
  type ProjectRouting,
  type RoutedSubscription,
  readEntityRouting,
  readProjectRouting,
} from "@svc/db/subscriptions/routing";

/**
 * The fields of an event that decide which projects receive it. For an event that a project published itself, these are `to` (the project)
 * and `isOffered`. `isOffered`: true if the project offers the type of the event to its customers; only then do subscriptions that
 * customers created in the portal receive the event. For a webhook post of an app, these are `account` (the account that the post names)
 * and `audience` (all projects, or only those that connected the account).
 */
export type RoutedPost = { toolkitSlug: string; triggerSlug: string } & (
  | { audience: Audience; account: string; to?: undefined; isOffered?: undefined }
  | { to: ReceivingProject; isOffered?: boolean; audience?: undefined; account?: undefined }
);

/**
 * A project that receives an event, and the entity (customer or user) whose account the event is about. The entity is empty if the event is
 * about no account of the project.
 */
export type ReceivingProject = { projectId: ProjectId; entityId: string };

/**
 * This node's copy of the routing, which says which projects receive which webhook posts. The copy may be out of date. When events are
 * stored, svc compares the versions of the used routing with the database, and reads outdated routing again.
 */
export type Routing = {
  /**
   * Returns the routing (which subscriptions receive which webhook post) for a batch of posts. First reads those parts of the routing that
   * the posts need and that this node does not know yet.
   */
  prepare(db: Executor, posts: readonly RoutedPost[]): Promise<RoutingView>;
  /**
   * Removes outdated routing (which subscriptions receive an event) from this node's copy, so that the node reads it again: the routing of
   * the deployment, and the routing of these projects.
   */
  forget(projects: Iterable<ProjectId>): void;
  /** Stores the new versions of shards (groups of entities) that have changed. The subscriptions of these entities are then read again. */
  moveShards(moved: readonly ShardVersion[]): void;
};

/**
 * The routing (which subscriptions get which webhook post) for one batch of posts. It does not change while the batch is processed, even if
 * another batch loads or removes the routing of a project in the cache.
 */
export type RoutingView = {
  /**
   * Returns the projects that receive a webhook post. The rule of the deployment and the account that the post names decide this. The
   * routing for the post must be loaded before.
   */
  receivers(post: RoutedPost): ReceivingProject[];
  /**
   * Returns the active subscriptions of a receiver that match at a time (epoch milliseconds). Subscriptions of other entities (customers or
   * users) and expired subscriptions are left out.
   */
  subscribers(receiver: ReceivingProject, post: RoutedPost, atMs: number): readonly RoutedSubscription[];
  /**
   * Returns the filters of the project's subscriptions that may receive this webhook post, without duplicates. Usually none has a filter,
   * and the list is empty.
   */
  filters(receiver: ReceivingProject, post: RoutedPost): readonly string[];
  /**
   * Returns the version of the project's routing data, if a schedule of the project starts on the trigger of this post. Otherwise returns
   * undefined.
   */
  heardAt(projectId: ProjectId, post: RoutedPost): number | undefined;
  /** Returns the quotas that are set for a project that receives webhook posts. Quotas that are not set are absent. */
  quotasOf(projectId: ProjectId): Quotas;
  /** Returns the move of a project to another cell, during which it takes no posts here. Undefined if the project works here. */
  holdOf(projectId: ProjectId): HeldProject | undefined;
  /**
   * Returns the versions of the routing data that were used for these projects. If a version has changed in the database, the routing data
   * may be outdated.
   */
  seen(projects: Iterable<ProjectId>): RoutingSnapshot;
};

const referencesMax = 100_000;
/**
 * Maximum number of characters of a reference (the id by which a webhook post names an account). A longer one matches no account. A
 * reference with U+0000 does not match either, because PostgreSQL cannot store it.
 */
const referenceCharactersMax = 512;

/** Maximum number of entities (customers or users) whose subscriptions this node keeps, and maximum number of these subscriptions. */
const entitiesMax = 200_000;

/** Routing data (who receives which event) of the whole deployment. `references`: accounts, by the ids that apps use for them. */
type Deployment = { version: number; projects: ProjectId[]; references: References };
type References = Map<string, AccountReference | undefined>;
type CachedProject = ProjectRouting & { byTrigger: Map<string, Subscribers> };
type CachedEntity = EntityRouting & { readonly projectId: ProjectId };
/** The entities (customers or users) that the webhook posts of a batch name, by project and entity. */
type Entities = ReadonlyMap<string, CachedEntity>;
/** The subscriptions of a project to a trigger. `filters`: the filters of these subscriptions, without duplicates. */
type Subscribers = { readonly subscriptions: readonly RoutedSubscription[]; readonly filters: readonly string[] };

/**
 * Creates an empty cache of the routing (which subscription gets which event). The cache reads missing data from the database. `most`:
 * maximum number of entities whose subscriptions it keeps.
 */
export function createRouting(most = entitiesMax): Routing {
  let known: Deployment | undefined;
  let isCurrent = false;
  const projects = new Map<ProjectId, CachedProject>();
  const entities = createEntityCache(most);

  const deploymentOf = async (db: Executor): Promise<Deployment> => {
    if (known !== undefined && isCurrent) return known;
    // The version is read before the references, so these may be newer. The database then refuses to store events with the old version, and
    // the node reads the routing again.
    const read = await readDeploymentRouting(db);
    const references: References = read.version === known?.version ? known.references : new Map();
    known = { ...read, references };
    isCurrent = true;
    return known;
  };
  const projectsOf = async (db: Executor, ids: ReadonlySet<ProjectId>): Promise<Map<ProjectId, CachedProject>> => {
    const unknown = [...ids].filter((id) => !projects.has(id));
    const own = new Map([...ids].flatMap((id) => entry(id, projects.get(id))));
    if (unknown.length === 0) return own;
    for (const [id, read] of await readProjectRouting(db, unknown)) {
      const project: CachedProject = { ...read, byTrigger: new Map() };
      projects.set(id, project);
      own.set(id, project);
    }
    return own;
  };
  return {
    async prepare(db, posts) {
      const deployment = await deploymentOf(db);
      const references = await referencesOf(db, deployment.references, posts);
      // Computed once for each post, because the receivers are used several times: to charge quotas, to store events and to answer.
      const byPost = new Map(posts.map((post) => [post, receiversOf(deployment, references, post)]));
      const receivers = (post: RoutedPost) => byPost.get(post) ?? receiversOf(deployment, references, post);
      const ids = new Set(posts.flatMap((post) => receivers(post).map((receiver) => receiver.projectId)));
      const own = await projectsOf(db, ids);
      const named = await entities.of(db, own, () => posts.flatMap(receivers));
      return {
        receivers,
        subscribers: (receiver, post, atMs) => {
          const matching = subscribersOf(own.get(receiver.projectId), post).subscriptions;
          const ofEntity = named.get(entityKey(receiver))?.subscriptions ?? none;
          // Most subscriptions cover the whole project and do not expire, so the list is usually returned unchanged.
          const all = ofEntity.length === 0 ? matching : [...matching, ...ofEntity.filter((one) => isMatch(one, post))];
          return all.some(isExpiring) ? all.filter((one) => !isExpired(one, atMs)) : all;
        },
        filters: (receiver, post) => {
          const { filters } = subscribersOf(own.get(receiver.projectId), post);
          const ofEntity = named.get(entityKey(receiver))?.subscriptions ?? none;
          if (!ofEntity.some(hasFilter)) return filters;
          return [...new Set([...filters, ...filtersOf(ofEntity.filter((one) => isMatch(one, post)))])];
        },
        heardAt(projectId, { triggerSlug }) {
          const project = own.get(projectId);
          return project?.subscribedTriggers.includes(triggerSlug) === true ? project.version : undefined;
        },
        quotasOf: (projectId) => own.get(projectId)?.quotas ?? {},
        holdOf: (projectId) => own.get(projectId)?.hold,
        seen: (seenIds) => ({
          version: deployment.version,
          projects: new Map([...new Set(seenIds)].map((id) => [id, own.get(id)?.version ?? 0])),
          ...(named.size > 0 && { shards: shardsOf(named) }),
        }),
      };
    },
    forget(ids) {
      isCurrent = false;
      for (const id of ids) projects.delete(id);
    },
    moveShards(moved) {
      for (const { projectId, shard, version } of moved) projects.get(projectId)?.shards?.set(shard, version);
    },
  };
}

/** The subscriptions of the entities (customers or users) that webhook posts named lately. */
type EntityCache = {
  /**
   * Returns the subscriptions of the entities (customers or users) that receive events. Reads those from the database that are unknown or
   * have changed.
   */
  of(
    db: Executor,
    projects: ReadonlyMap<ProjectId, CachedProject>,
    receivers: () => readonly ReceivingProject[],
  ): Promise<Entities>;
};

function createEntityCache(most: number): EntityCache {
  // The weight of an entity is the number of its subscriptions, at least 1. So the cache stays small also if entities have many.
  let weight = 0;
  const known = new LeastRecentlyUsed<string, CachedEntity>(most, (gone) => {
    weight -= weightOf(gone);
  });
  const keep = (key: string, entity: CachedEntity) => {
    known.set(key, entity);
    weight += weightOf(entity);
    while (weight > most) known.evict();
  };
  return {
    async of(db, projects, receivers) {
      const named = new Map<string, CachedEntity>();
      if (![...projects.values()].some(({ shards }) => shards !== undefined)) return named;
      const unknown = new Map<string, ReceivingProject>();
      for (const receiver of receivers()) {
        const shards = projects.get(receiver.projectId)?.shards;
        if (shards === undefined || receiver.entityId === "") continue;
        const key = entityKey(receiver);
        const entity = known.get(key);
        if (entity !== undefined && entity.version === versionOf(shards, entity)) named.set(key, entity);
        else unknown.set(key, receiver);
      }
      if (unknown.size === 0) return named;
      const read = await readEntityRouting(db, [...unknown.values()]);
      for (const [index, [key, { projectId }]] of [...unknown].entries()) {
        const routing = read[index];
        if (routing === undefined) throw new Error("an entity was not read");
        const entity = { ...routing, projectId };
        named.set(key, entity);
        const shards = projects.get(projectId)?.shards ?? new Map();
        // The entity was read after the project, so its version may be newer.
        if (entity.version > versionOf(shards, entity)) shards.set(entity.shard, entity.version);
        if (entity.version === versionOf(shards, entity)) keep(key, entity);
      }
      return named;
    },
  };
}

function versionOf(shards: ReadonlyMap<number, number>, { shard }: EntityRouting): number {
  return shards.get(shard) ?? 0;
}

function weightOf({ subscriptions }: CachedEntity): number {
  return Math.max(1, subscriptions.length);
}

function entityKey({ projectId, entityId }: ReceivingProject): string {
  return `${projectId} ${entityId}`;
}

/**
 * Returns the version of each group of entities (shard) that contains one of the given entities. If a group was read at two versions,
 * returns the older one.
 */
function shardsOf(entities: Entities): ShardVersion[] {
  const shards = new Map<string, ShardVersion>();
  for (const { projectId, shard, version } of entities.values()) {
    const key = `${projectId} ${shard}`;
    const known = shards.get(key);
    if (known === undefined || version < known.version) shards.set(key, { projectId, shard, version });
  }
  return [...shards.values()];
}

function entry<Key, Value>(key: Key, value: Value | undefined): [Key, Value][] {
  return value === undefined ? [] : [[key, value]];
}

/**
 * Returns the accounts that the posts name, by reference (the id that the app uses for an account). Known references come from memory, all
 * others from the database.
 */
async function referencesOf(db: Executor, known: References, posts: readonly RoutedPost[]): Promise<References> {
  const own: References = new Map();
  const wanted = new Map<string, { toolkitSlug: string; reference: string }>();
  for (const { toolkitSlug, account } of posts) {
    if (account === undefined || !isReference(account)) continue;
    const key = referenceKey({ toolkitSlug, account });
    if (known.has(key)) own.set(key, known.get(key));
    else wanted.set(key, { toolkitSlug, reference: account });
  }
  if (wanted.size === 0) return own;
  const found = await findAccountReferences(db, [...wanted.values()]);
  for (const key of wanted.keys()) own.set(key, undefined);
  for (const reference of found)
    own.set(referenceKey({ toolkitSlug: reference.toolkitSlug, account: reference.reference }), reference);
  if (known.size > referencesMax) known.clear();
  for (const key of wanted.keys()) known.set(key, own.get(key));
  return own;
}

function receiversOf(deployment: Deployment, references: References, post: RoutedPost): ReceivingProject[] {
  if (post.to !== undefined) return [post.to];
  const reference = references.get(referenceKey(post));
  if (post.audience === "accounts") return reference === undefined ? [] : [reference];
  return deployment.projects.map((projectId) => ({
    projectId,
    entityId: reference?.projectId === projectId ? reference.entityId : "",
  }));
}

const none: readonly RoutedSubscription[] = [];
const noSubscribers: Subscribers = { subscriptions: none, filters: [] };

function subscribersOf(project: CachedProject | undefined, post: RoutedPost): Subscribers {
  if (project === undefined) return noSubscribers;
  const known = project.byTrigger.get(post.triggerSlug);
  if (known !== undefined) return known;
  const subscriptions = project.subscriptions.filter((subscription) => isMatch(subscription, post));
  const made = { subscriptions, filters: filtersOf(subscriptions) };
  project.byTrigger.set(post.triggerSlug, made);
  return made;
}

function filtersOf(subscriptions: readonly RoutedSubscription[]): readonly string[] {
  return [...new Set(subscriptions.flatMap(({ settings }) => settings?.filter ?? []))];
}

function isMatch({ toolkitSlug, triggerSlug, triggerSlugs, origin }: RoutedSubscription, post: RoutedPost): boolean {
  return (
    (origin === "" || post.isOffered === true) &&
    (toolkitSlug === "" || toolkitSlug === post.toolkitSlug) &&
    (triggerSlug === "" || triggerSlug === post.triggerSlug) &&
    (triggerSlugs.length === 0 || triggerSlugs.includes(post.triggerSlug))
  );
}

function hasFilter({ settings }: RoutedSubscription): boolean {
  return settings?.filter !== undefined;
}

function isExpiring({ expiresAt }: RoutedSubscription): boolean {
  return expiresAt !== null;
}

function isExpired({ expiresAt }: RoutedSubscription, atMs: number): boolean {
  return expiresAt !== null && expiresAt <= atMs;
}

function isReference(account: string): boolean {
  return account !== "" && account.length <= referenceCharactersMax && !account.includes("\0");
}

function referenceKey({ toolkitSlug, account }: { toolkitSlug: string; account: string }): string {
  return `${toolkitSlug} ${account}`;
}
