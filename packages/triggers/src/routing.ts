import type { Audience } from "@svc/catalog";
import type { ProjectId } from "@svc/core";
import {
  type AccountReference,
  type Executor,
  findAccountReferences,
  type ProjectRouting,
  type RoutedSubscription,
  type RoutingSeen,
  readDeploymentRouting,
  readProjectRouting,
} from "@svc/db";

/** What routing needs of a post. */
export type RoutedPost = { toolkitSlug: string; triggerSlug: string; audience: Audience; account: string };

/** A project that receives an event, and whose account it is about (empty when none of its own). */
export type Receiver = { projectId: ProjectId; entityId: string };

/** This node's copy of who receives what. Every use is checked against the store's versions when events are stored. */
export type Routing = {
  /** Reads what the posts need and is not known yet. */
  prepare(db: Executor, posts: readonly RoutedPost[]): Promise<void>;
  /** The projects that receive a prepared post. */
  receivers(post: RoutedPost): Receiver[];
  /** The active subscriptions of a prepared project that match. */
  subscribers(projectId: ProjectId, post: RoutedPost): readonly RoutedSubscription[];
  /** The versions that answers about these projects rest on. */
  seen(projects: Iterable<ProjectId>): RoutingSeen;
  /** Forgets what the store has moved on from: the deployment's routing and these projects'. */
  forget(projects: Iterable<ProjectId>): void;
};

const referencesMax = 100_000;
/** Longer keys match no reference; PostgreSQL's text cannot hold U+0000. */
const referenceCharactersMax = 512;

type Deployment = { version: number; projects: ProjectId[] };
type CachedProject = ProjectRouting & { byTrigger: Map<string, RoutedSubscription[]> };

/** Makes an empty copy; it fills as posts arrive. */
export function createRouting(): Routing {
  let deployment: Deployment | undefined;
  let referencesVersion = 0;
  const projects = new Map<ProjectId, CachedProject>();
  const references = new Map<string, AccountReference | undefined>();

  const readDeployment = async (db: Executor) => {
    deployment = await readDeploymentRouting(db);
    if (deployment.version !== referencesVersion || references.size > referencesMax) references.clear();
    referencesVersion = deployment.version;
  };
  const readReferences = async (db: Executor, posts: readonly RoutedPost[]) => {
    const wanted = new Map<string, { toolkitSlug: string; reference: string }>();
    for (const post of posts) {
      const key = referenceKey(post);
      if (isReference(post.account) && !references.has(key))
        wanted.set(key, { toolkitSlug: post.toolkitSlug, reference: post.account });
    }
    if (wanted.size === 0) return;
    const found = await findAccountReferences(db, [...wanted.values()]);
    for (const key of wanted.keys()) references.set(key, undefined);
    for (const reference of found)
      references.set(referenceKey({ toolkitSlug: reference.toolkitSlug, account: reference.reference }), reference);
  };
  const readProjects = async (db: Executor, ids: ReadonlySet<ProjectId>) => {
    const wanted = [...ids].filter((id) => !projects.has(id));
    if (wanted.length === 0) return;
    for (const [id, routing] of await readProjectRouting(db, wanted))
      projects.set(id, { ...routing, byTrigger: new Map() });
  };

  const routing: Routing = {
    async prepare(db, posts) {
      if (deployment === undefined) await readDeployment(db);
      await readReferences(db, posts);
      await readProjects(
        db,
        new Set(posts.flatMap((post) => routing.receivers(post).map((receiver) => receiver.projectId))),
      );
    },
    receivers(post) {
      const reference = references.get(referenceKey(post));
      if (post.audience === "accounts") return reference === undefined ? [] : [reference];
      return (deployment?.projects ?? []).map((projectId) => ({
        projectId,
        entityId: reference?.projectId === projectId ? reference.entityId : "",
      }));
    },
    subscribers(projectId, post) {
      const project = projects.get(projectId);
      if (project === undefined) return [];
      let matching = project.byTrigger.get(post.triggerSlug);
      if (matching === undefined) {
        matching = project.subscriptions.filter((subscription) => isMatch(subscription, post));
        project.byTrigger.set(post.triggerSlug, matching);
      }
      return matching;
    },
    seen: (ids) => ({
      version: deployment?.version ?? 0,
      projects: new Map([...new Set(ids)].map((id) => [id, projects.get(id)?.version ?? 0])),
    }),
    forget(ids) {
      deployment = undefined;
      for (const id of ids) projects.delete(id);
    },
  };
  return routing;
}

function isMatch(subscription: RoutedSubscription, post: RoutedPost): boolean {
  const { toolkitSlug, triggerSlug } = subscription;
  return (
    (toolkitSlug === "" || toolkitSlug === post.toolkitSlug) && (triggerSlug === "" || triggerSlug === post.triggerSlug)
  );
}

function isReference(account: string): boolean {
  return account !== "" && account.length <= referenceCharactersMax && !account.includes("\0");
}

function referenceKey({ toolkitSlug, account }: { toolkitSlug: string; account: string }): string {
  return `${toolkitSlug} ${account}`;
}
