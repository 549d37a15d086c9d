import { serveTasks } from "@svc/core/thread";
import { type ChosenImportOptions, importChecked } from "./import-checked.ts";

// Entry point of the thread in which OpenAPI documents become toolkits. A hostile document can use only the memory and time of this thread.
serveTasks((message) => {
  const { text, options } = message as { readonly text: string; readonly options: ChosenImportOptions };
  return importChecked(text, options);
});
