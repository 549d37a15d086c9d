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

/** A hook ready to be asked. */
export type Hook = {
  readonly id: HookId;
  readonly phase: HookPhase;
  readonly url: URL;
  readonly key: HmacKey;
  readonly toolkitSlugs: readonly string[];
  readonly accessClasses: readonly StoredAccessClass[];
};

/** What this node knows of the hooks of projects. */
export type KnownHooks = {
  /** Those of a project that are active, in the order in which they are asked; a promise only where they are to be read. */
  of(projectId: ProjectId): readonly Hook[] | Promise<readonly Hook[]>;
  /** Forgets those of a project, so that a change shows at once; other nodes see it within 500 ms. */
  forget(projectId: ProjectId): void;
};

/** How old what a node knows of a project may be, and from when on it is read anew beside the calls. Milliseconds. */
const freshMs = 500;
const renewMs = 250;
const projectsMax = 10_000;

type Known = { readonly hooks: readonly Hook[]; readonly readAtMs: number };

/** Where the signing secret of a hook is sealed. */
export function hookSecretContext(projectId: ProjectId, id: HookId): string {
  return `${projectId}/call_hooks/${id}`;
}

/** Makes it; hooks that are asked for together are read by one statement. */
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
      // Whoever forgot meanwhile reads again.
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
      // Who waits for it later hears of a failure.
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

/** Whether a hook is asked about calls of a tool. */
export function isAskedAbout(
  hook: Hook,
  tool: { readonly toolkitSlug: string; readonly class: StoredAccessClass },
): boolean {
  const { toolkitSlugs, accessClasses } = hook;
  if (accessClasses.length > 0 && !accessClasses.includes(tool.class)) return false;
  return toolkitSlugs.length === 0 || toolkitSlugs.includes(tool.toolkitSlug);
}
