import type { Quotas } from "@svc/core";
import { asWritten, documentType } from "./document.ts";

/** How `project_policies.quotas` is stored: by name, those that are set. */
export const quotasDocument = documentType<Quotas>("project_policies.quotas", [asWritten]);
