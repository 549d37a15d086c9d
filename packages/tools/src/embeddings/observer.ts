/** Purpose of a request to the embeddings endpoint: the words of a search, or texts of tools. */
export type EmbeddingsPurpose = "search" | "tools";

/**
 * Outcome of a request to the endpoint. `refused`: the endpoint answered with a status other than 200. `unkeyed`: the key for the endpoint
 * could not be read.
 */
export type EndpointOutcome = "ok" | "refused" | "late" | "unreachable" | "malformed" | "unkeyed";

/**
 * Origin of the vector of a search query, or the reason that it is missing. Without a vector, the search compares only words.
 * - `asked`: from the embeddings endpoint.
 * - `kept`: from memory.
 * - `unready`: the tools do not have vectors yet.
 * - `crowded`: too many requests to the endpoint were running.
 * - `paused`: a request of the project failed a short time ago.
 * - `late`: the endpoint did not answer in time.
 * - `failed`: the endpoint did not give a valid answer.
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
