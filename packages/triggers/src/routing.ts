import type { Audience } from "@svc/catalog";
import type { ProjectId, Quotas } from "@svc/core";
import { type AccountReference, findAccountReferences } from "@svc/db/account-references/repo";
import type { Executor } from "@svc/db/connect";
import type { RoutingSnapshot } from "@svc/db/events/record";
import { readDeploymentRouting } from "@svc/db/projects/repo";
import { type ProjectRouting, type RoutedSubscription, readProjectRouting } from "@svc/db/subscriptions/routing";

/** The fields of a post that routing needs. */
export type RoutedPost = { toolkitSlug: string; triggerSlug: string; audience: Audience; account: string };

/** A project that receives an event, and the entity whose account it is about (empty if none of its own). */
export type ReceivingProject = { projectId: ProjectId; entityId: string };

/**
 * This node's copy of the routing: which project receives what. It may be old. Every use is checked against the store's versions when
 * events are stored, and stale parts are read again.
 */
export type Routing = {
  /** Reads what the posts need and is not known yet. */
  prepare(db: Executor, posts: readonly RoutedPost[]): Promise<RoutingView>;
  /** Removes what has changed in the store: the deployment's routing and that of these projects. */
  forget(projects: Iterable<ProjectId>): void;
};

/** The routing of one batch of posts. It and its versions stay consistent, even if other batches read or remove parts meanwhile. */
export type RoutingView = {
  /** Returns the projects that receive a prepared post. */
  receivers(post: RoutedPost): ReceivingProject[];
  /**
   * Returns the active matching subscriptions of a receiver at a time (epoch milliseconds). Those of other entities and expired ones are
   * left out.
   */
  subscribers(receiver: ReceivingProject, post: RoutedPost, atMs: number): readonly RoutedSubscription[];
  /** Returns the routing version of a receiver whose standing programs start on a post's trigger, or undefined if none does. */
  heardAt(projectId: ProjectId, post: RoutedPost): number | undefined;
  /** Returns a receiver's quotas that are set. */
  quotasOf(projectId: ProjectId): Quotas;
  /** Returns the versions that answers about these projects depend on. */
  seen(projects: Iterable<ProjectId>): RoutingSnapshot;
};

const referencesMax = 100_000;
/** A longer key matches no reference. PostgreSQL's text cannot hold U+0000. */
const referenceCharactersMax = 512;

/** References are read after the version they are kept with: they are at least as new as that version, and are refused if newer. */
type Deployment = { version: number; projects: ProjectId[]; references: References };
type References = Map<string, AccountReference | undefined>;
type CachedProject = ProjectRouting & { byTrigger: Map<string, RoutedSubscription[]> };

/** Creates an empty copy. It fills as posts arrive. */
export function createRouting(): Routing {
  let known: Deployment | undefined;
  let isCurrent = false;
  const projects = new Map<ProjectId, CachedProject>();

  const deploymentOf = async (db: Executor): Promise<Deployment> => {
    if (known !== undefined && isCurrent) return known;
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
      const project = { ...read, byTrigger: new Map() };
      projects.set(id, project);
      own.set(id, project);
    }
    return own;
  };
  return {
    async prepare(db, posts) {
      const deployment = await deploymentOf(db);
      const references = await referencesOf(db, deployment.references, posts);
      // Needed several times: to charge, to store and to answer.
      const byPost = new Map(posts.map((post) => [post, receiversOf(deployment, references, post)]));
      const receivers = (post: RoutedPost) => byPost.get(post) ?? receiversOf(deployment, references, post);
      const ids = new Set(posts.flatMap((post) => receivers(post).map((receiver) => receiver.projectId)));
      const own = await projectsOf(db, ids);
      return {
        receivers,
        subscribers: (receiver, post, atMs) => {
          const matching = subscribersOf(own.get(receiver.projectId), post);
          // Most subscriptions are of the whole project and do not expire.
          return matching.some(isNarrowed) ? matching.filter((one) => isReached(one, receiver, atMs)) : matching;
        },
        heardAt(projectId, { triggerSlug }) {
          const project = own.get(projectId);
          return project?.subscribedTriggers.includes(triggerSlug) === true ? project.version : undefined;
        },
        quotasOf: (projectId) => own.get(projectId)?.quotas ?? {},
        seen: (seenIds) => ({
          version: deployment.version,
          projects: new Map([...new Set(seenIds)].map((id) => [id, own.get(id)?.version ?? 0])),
        }),
      };
    },
    forget(ids) {
      isCurrent = false;
      for (const id of ids) projects.delete(id);
    },
  };
}

function entry<Key, Value>(key: Key, value: Value | undefined): [Key, Value][] {
  return value === undefined ? [] : [[key, value]];
}

/** Returns the references that the posts name, from the known ones or from the store. */
async function referencesOf(db: Executor, known: References, posts: readonly RoutedPost[]): Promise<References> {
  const own: References = new Map();
  const wanted = new Map<string, { toolkitSlug: string; reference: string }>();
  for (const { toolkitSlug, account } of posts) {
    if (!isReference(account)) continue;
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
  const reference = references.get(referenceKey(post));
  if (post.audience === "accounts") return reference === undefined ? [] : [reference];
  return deployment.projects.map((projectId) => ({
    projectId,
    entityId: reference?.projectId === projectId ? reference.entityId : "",
  }));
}

function subscribersOf(project: CachedProject | undefined, post: RoutedPost): readonly RoutedSubscription[] {
  if (project === undefined) return [];
  let matching = project.byTrigger.get(post.triggerSlug);
  if (matching === undefined) {
    matching = project.subscriptions.filter((subscription) => isMatch(subscription, post));
    project.byTrigger.set(post.triggerSlug, matching);
  }
  return matching;
}

function isMatch(subscription: RoutedSubscription, post: RoutedPost): boolean {
  const { toolkitSlug, triggerSlug } = subscription;
  return (
    (toolkitSlug === "" || toolkitSlug === post.toolkitSlug) && (triggerSlug === "" || triggerSlug === post.triggerSlug)
  );
}

function isNarrowed({ entityId, expiresAt }: RoutedSubscription): boolean {
  return entityId !== "" || expiresAt !== null;
}

function isReached({ entityId, expiresAt }: RoutedSubscription, receiver: ReceivingProject, atMs: number): boolean {
  return (entityId === "" || entityId === receiver.entityId) && (expiresAt === null || expiresAt > atMs);
}

function isReference(account: string): boolean {
  return account !== "" && account.length <= referenceCharactersMax && !account.includes("\0");
}

function referenceKey({ toolkitSlug, account }: { toolkitSlug: string; account: string }): string {
  return `${toolkitSlug} ${account}`;
}
