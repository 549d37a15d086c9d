import { nowMs } from "../test-rows.ts";
import {
  claimToolVectors,
  keepToolVectors,
  readToolVectors,
  releaseToolVectors,
  sweepToolVectors,
  touchToolVectors,
} from "../tool-vectors/repo.ts";
import type { Plan } from "./plan.ts";
import { seededAt, seededId } from "./seed.ts";

const projectId = seededId("prj", 1);
const digests = ["d7", "d8", "d10"];
const byDigest = "tool_vectors_pkey(digest)";

/** Where the texts of tools lie. */
export const toolVectorPlans: readonly Plan[] = [
  {
    name: "read_tool_vectors",
    run: (db) => readToolVectors(db, digests, projectId),
    reads: { tool_vectors: byDigest },
  },
  {
    name: "claim_tool_vectors",
    run: (db) => claimToolVectors(db, [{ digest: "new", projectId }], { untilMs: nowMs + 60_000, nowMs }),
    reads: {},
  },
  {
    name: "keep_tool_vectors",
    run: (db) => keepToolVectors(db, [{ digest: "d7", vector: Buffer.alloc(8) }], nowMs),
    reads: { tool_vectors: byDigest },
  },
  {
    name: "release_tool_vectors",
    run: (db) => releaseToolVectors(db, digests),
    reads: { tool_vectors: byDigest },
  },
  {
    name: "touch_tool_vectors",
    run: (db) => touchToolVectors(db, digests, nowMs),
    reads: { tool_vectors: byDigest },
  },
  {
    name: "sweep_tool_vectors",
    run: (db) => sweepToolVectors(db, seededAt(500), 100),
    reads: { tool_vectors: ["tool_vectors_used(used_at)", byDigest] },
  },
];
