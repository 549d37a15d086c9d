/** What the embeddings endpoint is asked for: the words of a search, or texts of tools. */
export type EmbeddingsPurpose = "search" | "tools";

/** What came of a call to the endpoint. `refused`: it answered with another status than 200. `unkeyed`: its key could not be read. */
export type EndpointOutcome = "ok" | "refused" | "late" | "unreachable" | "malformed" | "unkeyed";

/**
 * How a search by meaning came by the vector of its words. `asked`: of the endpoint. `kept`: it was in memory. The others went by words alone.
 * `unready`: no tool has a vector yet. `crowded`: the project, or the node, had as many questions under way as it may. `paused`: an earlier one of the
 * project failed a short time ago. `late`: there was no answer in time. `failed`: the answer was none.
 */
export type SearchOutcome = "asked" | "kept" | "unready" | "crowded" | "paused" | "late" | "failed";

/** A call to the endpoint that has ended. */
export type EmbeddingsCall = {
  readonly what: EmbeddingsPurpose;
  readonly outcome: EndpointOutcome;
  readonly durationMs: number;
};

/** Who watches what an embeddings endpoint is asked. */
export type EmbeddingsObserver = {
  called(call: EmbeddingsCall): void;
  /** A search whose words could be compared with tools by meaning. */
  searched(outcome: SearchOutcome): void;
  /** The endpoint is not asked for a while: searches of a project, or tools that have no vector yet, do without. Of searches: every 5 s at most. */
  failed(what: EmbeddingsPurpose, error: Error): void;
};
