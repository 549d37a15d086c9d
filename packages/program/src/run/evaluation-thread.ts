import { serveTasks } from "@svc/core/thread";
import { testBatch } from "./batch.ts";

// What a thread of the evaluator's pool runs.
serveTasks(testBatch);
