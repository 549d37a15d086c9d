import type { ProjectId } from "@svc/core";
import type { listTools } from "./list-tools.ts";
import type { openSession } from "./session.ts";

/** A session that calls of one account share. `list`: the list of tools that was read last. Times are of `performance.now()`. */
export type KeptSession = {
  readonly projectId: ProjectId;
  readonly opening: ReturnType<typeof openSession>;
  usedMs: number;
  list: { readonly reading: ReturnType<typeof listTools>; readonly readMs: number } | undefined;
};

/** Maximum numbers of sessions that a node keeps: for all projects together, and for one project. */
const [sessionsMax, projectSessionsMax] = [256, 32];
/** Time in milliseconds after which a session without calls is removed, and the pause between two searches for such sessions. */
const [idleMs, sweepMs] = [300_000, 60_000];

/**
 * The sessions with MCP servers that a node keeps open for later calls. A project has at most 32; a new session replaces the project's
 * least recently used one. If the node has 256, the project with the most sessions loses one. Sessions that were idle for 5 minutes are
 * removed.
 */
export class KeptSessions {
  /** Least recently used first. */
  readonly #sessions = new Map<string, KeptSession>();
  #timer: NodeJS.Timeout | undefined;

  /** Number of kept sessions, without those that were idle for too long. */
  get size(): number {
    this.#sweep();
    return this.#sessions.size;
  }

  /** Returns the session with this key and marks it as used. Returns undefined if there is none, or if it was idle for too long. */
  use(key: string): KeptSession | undefined {
    this.#sweep();
    const kept = this.#sessions.get(key);
    if (kept === undefined) return undefined;
    this.#sessions.delete(key);
    this.#sessions.set(key, kept);
    kept.usedMs = performance.now();
    return kept;
  }

  /** Keeps a new session. Removes another one if there are too many. */
  add(key: string, session: KeptSession): void {
    this.#sessions.delete(key);
    const counts = new Map<ProjectId, number>();
    for (const { projectId } of this.#sessions.values()) counts.set(projectId, (counts.get(projectId) ?? 0) + 1);
    if ((counts.get(session.projectId) ?? 0) >= projectSessionsMax) this.#removeOldest(session.projectId);
    else if (this.#sessions.size >= sessionsMax) {
      const [most] = [...counts].sort(([, a], [, b]) => b - a);
      if (most !== undefined) this.#removeOldest(most[0]);
    }
    this.#sessions.set(key, session);
    this.#timer ??= setInterval(() => this.#sweep(), sweepMs).unref();
  }

  /** Removes a session, unless a newer one has taken its place. */
  remove(key: string, session: KeptSession): void {
    if (this.#sessions.get(key) === session) this.#sessions.delete(key);
  }

  #removeOldest(projectId: ProjectId): void {
    for (const [key, session] of this.#sessions) {
      if (session.projectId === projectId) return void this.#sessions.delete(key);
    }
  }

  #sweep(): void {
    const nowMs = performance.now();
    for (const [key, { usedMs }] of this.#sessions) if (nowMs - usedMs >= idleMs) this.#sessions.delete(key);
    if (this.#sessions.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}
