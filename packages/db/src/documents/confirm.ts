import type { ConfirmRule } from "@svc/core";
import { asWritten, documentType } from "./document.ts";

/** How `project_policies.confirm` is stored. */
export const projectConfirmDocument = documentType<ConfirmRule>("project_policies.confirm", [asWritten]);

/** How `api_keys.confirm` is stored. */
export const keyConfirmDocument = documentType<ConfirmRule>("api_keys.confirm", [asWritten]);
