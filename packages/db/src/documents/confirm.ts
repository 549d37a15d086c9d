import type { ConfirmRule } from "@svc/core";
import { asWritten, documentType } from "./document.ts";

/** How `project_policies.confirm` and `api_keys.confirm` are stored. */
export const confirmDocument = documentType<ConfirmRule>("confirm", [asWritten]);
