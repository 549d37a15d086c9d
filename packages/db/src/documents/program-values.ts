import type { JsonObject } from "@svc/core";
import { plainDocument } from "./document.ts";

/** How `jobs.params` is stored: the program's own names. */
export const paramsDocument = plainDocument("jobs.params");

/** How `jobs.step_args` is stored: for each step that an answer changed, by its id, arguments by the tool's names. */
export const stepArgsDocument = plainDocument<Readonly<Record<string, JsonObject>>>("jobs.step_args");
