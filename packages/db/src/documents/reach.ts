import type { JsonObject } from "@svc/core";
import { asWritten, documentType } from "./document.ts";

/** `contacts.reach`: how to reach a contact, by tool, entity and argument template. */
export type ReachDocument = { readonly toolSlug: string; readonly entityId: string; readonly args: JsonObject };

/** How `contacts.reach` is stored. */
export const reachDocument = documentType<ReachDocument>("contacts.reach", [asWritten]);
