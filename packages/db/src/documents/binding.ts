import type { Binding, JobBinding } from "@svc/core";
import { asWritten, documentType } from "./document.ts";

/** How `jobs.binding` is stored: what whoever began it was bound to, and the account of a call that a person was asked about. */
export const jobBindingDocument = documentType<JobBinding>("jobs.binding", [asWritten]);

/** How `standing_programs.binding` is stored. */
export const standingBindingDocument = documentType<Binding>("standing_programs.binding", [asWritten]);
