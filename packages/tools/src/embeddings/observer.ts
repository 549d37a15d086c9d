/** Purpose of a request to the embeddings endpoint: the words of a search, or texts of tools. */
export type EmbeddingsPurpose = "search" | "tools";

/**
 * Outcome of a request to the endpoint. `refused`: the endpoint answered with a status other than 200. `unkeyed`: the key for the endpoint
 * could not be read.
 */
export type EndpointOutcome = "ok" | "refused" | "late" | "unreachable" | "malformed" | "unkeyed";

/**
 * Source of the vector for a search by meaning:
 * - `asked`: the endpoint.
 * - `kept`: memory.
 * The other outcomes mean that the search used words only:
 * - `unready`: no tool has a vector yet.
 * - `crowded`: the project or the node already had its maximum of running questions.
 * - `paused`: a question of the project failed a short time ago.
 * - `late`: the endpoint did not answer in time.
 * - `failed`: the endpoint gave no valid answer.
 */
export type SearchOutcome = "asked" | "kept" | "unready" | "crowded" | "paused" | "late" | "failed";

/** An ended request to the embeddings endpoint, for logs and metrics. */
export type EmbeddingsCall = {
  readonly what: EmbeddingsPurpose;
  readonly outcome: EndpointOutcome;
  readonly durationMs: number;
};

/** Observes requests to an embeddings endpoint. */
export type EmbeddingsObserver = {
  called(call: EmbeddingsCall): void;
  /** Called for each search that may compare the meaning of the query (by vectors), and not only its words. */
  searched(outcome: SearchOutcome): void;
  /** Called when svc pauses its requests to the embeddings endpoint after a failure. For searches, called at most every 5 seconds. */
  failed(what: EmbeddingsPurpose, error: Error): void;
};
