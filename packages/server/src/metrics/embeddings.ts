import { Counter, Histogram } from "prom-client";
import { callSeconds } from "./engines.ts";
import type { Registers } from "./exemplars.ts";
import type { Metrics } from "./types.ts";

/**
 * Registers the metrics of an embeddings endpoint: the outcomes of its calls, and the number of tool searches that had to use words only.
 */
export function registerEmbeddings(registers: Registers): Pick<Metrics, "embeddingsCalled" | "searchedByMeaning"> {
  const calls = new Counter({
    name: "svc_embeddings_calls_total",
    help: "Calls to the embeddings endpoint by purpose, words of searches or texts of tools, and by outcome.",
    labelNames: ["what", "outcome"],
    registers,
  });
  const durations = new Histogram({
    name: "svc_embeddings_call_duration_seconds",
    help: "Time from a call to the embeddings endpoint to its answer, or to the failure.",
    labelNames: ["what"],
    buckets: callSeconds,
    registers,
  });
  const searches = new Counter({
    name: "svc_embeddings_searches_total",
    help: "Searches by the source of the vector of their words; all except asked and kept searched by words alone.",
    labelNames: ["outcome"],
    registers,
  });
  return {
    embeddingsCalled({ what, outcome, durationMs }) {
      calls.inc({ what, outcome });
      durations.observe({ what }, durationMs / 1000);
    },
    searchedByMeaning: (outcome) => searches.inc({ outcome }),
  };
}
