import { nowMs } from "../src/test-rows.ts";
import {
  claimToolVectors,
  keepToolVectors,
  readToolVectors,
  releaseToolVectors,
  sweepToolVectors,
  touchToolVectors,
} from "../src/tool-vectors/repo.ts";
import { plan } from "./planner/plan.ts";
import { seededAt, seededId } from "./planner/seed.ts";

const projectId = seededId("prj", 1);
const digests = ["d7", "d8", "d10"];

// Recorded query plans of statements on the embedding vectors of tool texts.
plan("read_tool_vectors", (db) => readToolVectors(db, digests, projectId));
plan("claim_tool_vectors", (db) =>
  claimToolVectors(db, [{ digest: "new", projectId }], { untilMs: nowMs + 60_000, nowMs }),
);
plan("keep_tool_vectors", (db) => keepToolVectors(db, [{ digest: "d7", vector: Buffer.alloc(8) }], nowMs));
plan("release_tool_vectors", (db) => releaseToolVectors(db, digests));
plan("touch_tool_vectors", (db) => touchToolVectors(db, digests, nowMs));
plan("sweep_tool_vectors", (db) => sweepToolVectors(db, seededAt(500), 100));
