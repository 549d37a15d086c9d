import type { ConfirmRule } from "@svc/core";
import { asWritten, documentType } from "./document.ts";

/** How `project_policies.confirm` is stored. */
export const confirmDocument = documentType<ConfirmRule>("project_policies.confirm", [asWritten]);
