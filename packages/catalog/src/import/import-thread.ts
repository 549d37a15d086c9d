import { serveTasks } from "@svc/core/thread";
import { ImportError } from "./import-fault.ts";
import { type ImportOptions, importOpenapi } from "./import-openapi.ts";

// Entry point of the thread in which OpenAPI documents are converted. A hostile document can use only the memory and time of this thread.
serveTasks((message) => {
  const { text, options } = message as { readonly text: string; readonly options: ImportOptions };
  try {
    return importOpenapi(text, options);
  } catch (error) {
    if (error instanceof ImportError) return { fault: error.fault };
    throw error;
  }
});
