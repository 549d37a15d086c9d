import type { Clock, ProjectId } from "@svc/core";
import { type EmbeddingsEndpoint, EmbeddingsError } from "./endpoint.ts";
import type { EmbeddingsObserver, SearchOutcome } from "./observer.ts";
import { ProjectPauses, QuestionRoom } from "./question-room.ts";
import type { Vector } from "./vectors.ts";

/**
 * Vectors of past queries, separate for each project, so that a fast answer does not reveal that another project made the same search. If
 * there are more than `countMax`, the project with the most vectors loses the vector that it has not used for the longest time.
 */
export class KeptVectors {
  readonly #countMax: number;
  readonly #ofProjects = new Map<ProjectId, Map<string, Vector>>();
  #count = 0;

  constructor(countMax: number) {
    this.#countMax = countMax;
  }

  /** Returns the vector of a query and marks it as used. Undefined if there is none. */
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

/** Gives searches the vectors of their query texts, from memory or from the embeddings endpoint. */
type QueryVectors = {
  /**
   * Returns the vector of a text, and counts the request for the project. Undefined if no vector is available within 300 ms. Never rejects.
   */
  of(projectId: ProjectId, text: string): Promise<Vector | undefined>;
};

/**
 * Maximum wait of a search, in milliseconds. `allMs`: in total. `roomMs`: for a free slot, that is, until the search may ask the endpoint.
 */
const waits = { allMs: 300, roomMs: 100 };
/**
 * Maximum number of search queries whose vectors are kept in memory. svc does not request the vector of such a query from the embeddings
 * endpoint again.
 */
const keptMax = 1_000;
/**
 * Maximum number of queries that are sent to the embeddings endpoint at the same time. `all`: for all projects together. `project`: for one
 * project. Further queries are not sent, because their vectors would arrive too late for the search.
 */
export const questionsMax = { all: 32, project: 8 };
/** Minimum time between two reported failures of searches, milliseconds. */
const reportIntervalMs = 5_000;

/** Objects that are needed to get the vectors of search queries: the embeddings endpoint, the clock and the observer. */
type QueryVectorsOptions = {
  readonly endpoint: EmbeddingsEndpoint;
  readonly clock: Clock;
  readonly observer: EmbeddingsObserver;
};

type Answer = { readonly outcome: SearchOutcome; readonly vector?: Vector };

/**
 * Creates the object that returns vectors of search queries. A vector that arrives too late is kept for the next search with the same
 * words.
 */
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
    // The request may fail after the search has stopped waiting for it, so its error is ignored here.
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
      // A late answer is a failure of the endpoint only if the endpoint had the full time. Otherwise the search waited too long for a slot.
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
