import type { Binding } from "@svc/core";
import { asWritten, documentType } from "./document.ts";

/** How `jobs.binding` is stored: what whoever began it was bound to. */
export const jobBindingDocument = documentType<Binding>("jobs.binding", [asWritten]);

/** How `standing_programs.binding` is stored. */
export const standingBindingDocument = documentType<Binding>("standing_programs.binding", [asWritten]);
