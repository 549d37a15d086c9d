import { serveTasks } from "@svc/core/thread";
import { type MergeTask, mergeChecked } from "../source/compare-texts.ts";
import { faultsOf, type ImportTask, runImport } from "./import-checked.ts";

// Entry point of the thread in which OpenAPI documents and the tools of MCP servers become toolkits, and in which definitions are checked,
// compared and merged. A hostile document can use only the memory and time of this thread.
type ThreadTask = { readonly import: ImportTask } | { readonly merge: MergeTask } | { readonly check: string };

serveTasks((message) => {
  const task = message as ThreadTask;
  if ("check" in task) return faultsOf({ definitionJson: task.check });
  return "import" in task ? runImport(task.import) : mergeChecked(task.merge);
});
