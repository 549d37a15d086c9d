/** Purpose of a request to the embeddings endpoint: the words of a search, or texts of tools. */
export type EmbeddingsPurpose = "search" | "tools";

/** Outcome of a request to the endpoint. `refused`: it answered with another status than 200. `unkeyed`: its key could not be read. */
export type EndpointOutcome = "ok" | "refused" | "late" | "unreachable" | "malformed" | "unkeyed";

/**
 * How a search by meaning got the vector of its words. `asked`: from the endpoint. `kept`: from memory. For the other outcomes the search
 * used words only. `unready`: no tool has a vector yet. `crowded`: the project or the node had its maximum of running questions. `paused`:
 * an earlier question of the project failed recently. `late`: no answer in time. `failed`: no valid answer.
 */
export type SearchOutcome = "asked" | "kept" | "unready" | "crowded" | "paused" | "late" | "failed";

/** A request to the endpoint that has ended. */
export type EmbeddingsCall = {
  readonly what: EmbeddingsPurpose;
  readonly outcome: EndpointOutcome;
  readonly durationMs: number;
};

/** Observes requests to an embeddings endpoint. */
export type EmbeddingsObserver = {
  called(call: EmbeddingsCall): void;
  /** Called for a search that could be compared by meaning. */
  searched(outcome: SearchOutcome): void;
  /** Called when the endpoint pauses: searches of a project, or tools without a vector, do without it. For searches, at most every 5 s. */
  failed(what: EmbeddingsPurpose, error: Error): void;
};
