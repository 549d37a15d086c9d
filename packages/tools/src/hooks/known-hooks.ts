import {
  type Clock,
  createBatcher,
  createHmacKey,
  type HmacKey,
  type HookId,
  LeastRecentlyUsed,
  type ProjectId,
  type Sealer,
  signingSecretBytes,
} from "@svc/core";
import type { Database } from "@svc/db/connect";
import { isUnavailable } from "@svc/db/driver";
import { type CallHookRow, findCallHooks } from "@svc/db/hooks/repo";
import type { HookPhase, StoredAccessClass } from "@svc/db/schema/words";

/** A hook (an endpoint that checks tool calls) ready to be asked. */
export type Hook = {
  readonly id: HookId;
  readonly phase: HookPhase;
  readonly url: URL;
  readonly key: HmacKey;
  readonly toolkitSlugs: readonly string[];
  readonly accessClasses: readonly StoredAccessClass[];
};

/** This node's cache of the projects' hooks (endpoints that svc asks about tool calls). */
export type KnownHooks = {
  /**
   * Returns the active hooks (endpoints that check tool calls) of a project in the order in which they are asked. Returns a promise only if
   * the hooks must be read from the database.
   */
  of(projectId: ProjectId): readonly Hook[] | Promise<readonly Hook[]>;
  /**
   * Removes a project's hooks (endpoints that check tool calls) from the cache, so that a change applies at once on this node. Other nodes
   * apply the change within 500 ms.
   */
  forget(projectId: ProjectId): void;
};

/**
 * Maximum age of cached hooks (endpoints that check tool calls), in milliseconds. `renewMs`: age at which they are read again in the
 * background.
 */
const freshMs = 500;
const renewMs = 250;
const projectsMax = 10_000;

type Known = { readonly hooks: readonly Hook[]; readonly readAtMs: number };

/**
 * Returns the encryption context of the signing secret of a hook (an endpoint that checks tool calls). The secret can be decrypted only for
 * the same project and hook.
 */
export function hookSecretContext(projectId: ProjectId, id: HookId): string {
  return `${projectId}/call_hooks/${id}`;
}

/**
 * Creates this node's cache of hooks (endpoints that check tool calls). If hooks of several projects are requested at the same time, one
 * database statement reads them all.
 */
export function createKnownHooks(options: { db: Database; clock: Clock; sealer: Sealer }): KnownHooks {
  const { db, clock, sealer } = options;
  const known = new LeastRecentlyUsed<ProjectId, Known>(projectsMax);
  const reading = new Map<ProjectId, Promise<readonly Hook[]>>();
  const rows = createBatcher<ProjectId, CallHookRow[]>({
    run: (ids) => findCallHooks(db, ids),
    sizeMax: 200,
    concurrency: 2,
    besideMin: 32,
    splits: (error) => !isUnavailable(error),
  });
  const read = (projectId: ProjectId): Promise<readonly Hook[]> => {
    const before = reading.get(projectId);
    if (before !== undefined) return before;
    const readAtMs = clock.now();
    const started = rows.add(projectId).then((found) => {
      const hooks = found.filter(({ isActive }) => isActive).map((row) => hookOf(sealer, row));
      // If `forget` was called during the read, the result may be out of date. It is not cached, so the next request reads the hooks again.
      if (reading.get(projectId) === started) known.set(projectId, { hooks, readAtMs });
      return hooks;
    });
    const end = () => {
      if (reading.get(projectId) === started) reading.delete(projectId);
    };
    started.then(end, end);
    reading.set(projectId, started);
    return started;
  };
  return {
    of(projectId) {
      const current = known.get(projectId);
      const ageMs = current === undefined ? freshMs : clock.now() - current.readAtMs;
      if (current === undefined || ageMs >= freshMs) return read(projectId);
      // An error is ignored here. The next caller that waits for the hooks gets the error.
      if (ageMs >= renewMs) read(projectId).catch(() => {});
      return current.hooks;
    },
    forget(projectId) {
      known.delete(projectId);
      reading.delete(projectId);
    },
  };
}

function hookOf(sealer: Sealer, row: CallHookRow): Hook {
  const { id, projectId, phase, endpointUrl, signingSecret, toolkitSlugs, accessClasses } = row;
  const secret = sealer.open(signingSecret, hookSecretContext(projectId, id)).toString("utf8");
  const key = createHmacKey(signingSecretBytes(secret));
  return { id, phase, url: new URL(endpointUrl), key, toolkitSlugs, accessClasses };
}

/** True if a hook (an endpoint that checks tool calls) must be asked about calls of a tool. False if its filters exclude the tool. */
export function isAskedAbout(
  hook: Hook,
  tool: { readonly toolkitSlug: string; readonly class: StoredAccessClass },
): boolean {
  const { toolkitSlugs, accessClasses } = hook;
  if (accessClasses.length > 0 && !accessClasses.includes(tool.class)) return false;
  return toolkitSlugs.length === 0 || toolkitSlugs.includes(tool.toolkitSlug);
}
