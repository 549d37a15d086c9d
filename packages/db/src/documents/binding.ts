import type { Binding } from "@svc/core";
import { asWritten, documentType } from "./document.ts";

/** How `jobs.binding` and `standing_programs.binding` are stored: what whoever began it was bound to. */
export const bindingDocument = documentType<Binding>("binding", [asWritten]);
