import { serveTasks } from "@svc/core/thread";
import { type ImportTask, runImport } from "./import-checked.ts";

// Entry point of the thread in which OpenAPI documents and the tools of MCP servers become toolkits. A hostile document can use only the
// memory and time of this thread.
serveTasks((message) => runImport(message as ImportTask));
