import type { Clock, ProjectId } from "@svc/core";
import { type EmbeddingsEndpoint, EmbeddingsError } from "./endpoint.ts";
import type { EmbeddingsObserver, SearchOutcome } from "./observer.ts";
import { ProjectPauses, QuestionRoom } from "./question-room.ts";
import type { Vector } from "./vectors.ts";

/**
 * Vectors of what projects searched for, each project's own: how soon a search is answered tells nobody what others searched for. One more than
 * `countMax` takes the place of the least recently used one of the project that has most.
 */
export class KeptVectors {
  readonly #countMax: number;
  readonly #ofProjects = new Map<ProjectId, Map<string, Vector>>();
  #count = 0;

  constructor(countMax: number) {
    this.#countMax = countMax;
  }

  /** The vector, which counts as used by that. */
  get(projectId: ProjectId, text: string): Vector | undefined {
    const own = this.#ofProjects.get(projectId);
    const vector = own?.get(text);
    if (own === undefined || vector === undefined) return undefined;
    own.delete(text);
    own.set(text, vector);
    return vector;
  }

  set(projectId: ProjectId, text: string, vector: Vector): void {
    const own = this.#ofProjects.get(projectId) ?? new Map<string, Vector>();
    this.#ofProjects.set(projectId, own);
    if (!own.delete(text)) this.#count++;
    own.set(text, vector);
    if (this.#count > this.#countMax) this.#evict();
  }

  #evict(): void {
    let most: readonly [ProjectId, Map<string, Vector>] | undefined;
    for (const entry of this.#ofProjects) if (entry[1].size > (most?.[1].size ?? 0)) most = entry;
    const [oldest] = most?.[1].keys() ?? [];
    if (most === undefined || oldest === undefined) return;
    most[1].delete(oldest);
    this.#count--;
    if (most[1].size === 0) this.#ofProjects.delete(most[0]);
  }
}

/** Vectors of what is searched for. */
type QueryVectors = {
  /** The vector of a text within 300 ms, charged to the project; undefined where there is none by then. Never rejects. */
  of(projectId: ProjectId, text: string): Promise<Vector | undefined>;
};

/** How long a search waits in all, and for room to ask at most, milliseconds. */
const waits = { allMs: 300, roomMs: 100 };
/** Queries whose vectors are kept in memory: what a program asks again and again is asked of the endpoint once. */
const keptMax = 1_000;
/** Questions under way at once, of all projects and of one. More are not asked: they would come late. */
export const questionsMax = { all: 32, project: 8 };
/** Between two failures of searches that are told. */
const reportIntervalMs = 5_000;

/** What it works with. */
type QueryVectorsOptions = {
  readonly endpoint: EmbeddingsEndpoint;
  readonly clock: Clock;
  readonly observer: EmbeddingsObserver;
};

type Answer = { readonly outcome: SearchOutcome; readonly vector?: Vector };

/** Makes it. An answer that came late is kept for the next search of the same words. */
export function createQueryVectors({ endpoint, clock, observer }: QueryVectorsOptions): QueryVectors {
  const kept = new KeptVectors(keptMax);
  const room = new QuestionRoom(clock, questionsMax);
  const pauses = new ProjectPauses();
  const underWay = new Map<string, Promise<Vector>>();
  let reportedAtMs = Number.NEGATIVE_INFINITY;

  const fail = (projectId: ProjectId, error: Error) => {
    const nowMs = clock.now();
    pauses.failed(projectId, nowMs);
    if (nowMs - reportedAtMs < reportIntervalMs) return;
    reportedAtMs = nowMs;
    observer.failed("search", error);
  };
  const ask = (projectId: ProjectId, text: string, leave: () => void): Promise<Vector> => {
    const key = `${projectId} ${text}`;
    const asking = endpoint
      .embed([text])
      .then(([vector]) => {
        if (vector === undefined) throw new EmbeddingsError("malformed", "answered with no vector");
        kept.set(projectId, text, vector);
        return vector;
      })
      .finally(() => {
        underWay.delete(key);
        leave();
      });
    underWay.set(key, asking);
    // It may fail when nobody waits any more.
    asking.catch(() => {});
    return asking;
  };
  const waitFor = async (asking: Promise<Vector>, projectId: ProjectId, leftMs: number): Promise<Answer> => {
    const over = new AbortController();
    const late = clock.wait(leftMs, over.signal).then(() => undefined);
    try {
      const vector = await Promise.race([asking, late]);
      if (vector !== undefined) {
        pauses.succeeded(projectId);
        return { outcome: "asked", vector };
      }
      // It is the endpoint that was late only where it had all of the time.
      if (leftMs < waits.allMs) pauses.withdrew(projectId);
      else fail(projectId, new EmbeddingsError("late", `did not answer within ${waits.allMs} ms`));
      return { outcome: "late" };
    } catch (error) {
      fail(projectId, error instanceof Error ? error : new Error(String(error)));
      return { outcome: "failed" };
    } finally {
      over.abort();
    }
  };
  const answer = async (projectId: ProjectId, text: string): Promise<Answer> => {
    const vector = kept.get(projectId, text);
    if (vector !== undefined) return { outcome: "kept", vector };
    const startedAt = clock.now();
    if (!pauses.mayAsk(projectId, startedAt)) return { outcome: "paused" };
    const asked = underWay.get(`${projectId} ${text}`);
    if (asked !== undefined) return waitFor(asked, projectId, waits.allMs);
    const leave = await room.enter(projectId, waits.roomMs);
    if (leave === undefined) {
      pauses.withdrew(projectId);
      return { outcome: "crowded" };
    }
    return waitFor(ask(projectId, text, leave), projectId, waits.allMs - Math.max(0, clock.now() - startedAt));
  };
  return {
    async of(projectId, text) {
      const { outcome, vector } = await answer(projectId, text);
      observer.searched(outcome);
      return vector;
    },
  };
}
