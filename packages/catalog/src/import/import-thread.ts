import { serveTasks } from "@svc/core/thread";
import { type MergeTask, mergeChecked } from "../source/compare-texts.ts";
import { type ImportTask, runImport } from "./import-checked.ts";

// Entry point of the thread in which OpenAPI documents and the tools of MCP servers become toolkits, and in which definitions are compared
// and merged. A hostile document can use only the memory and time of this thread.
serveTasks((message) => {
  const task = message as { readonly import: ImportTask } | { readonly merge: MergeTask };
  return "import" in task ? runImport(task.import) : mergeChecked(task.merge);
});
