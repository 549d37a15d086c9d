import { type ProjectId, readJsonObject, type Sealer } from "@svc/core";
import type { AskRecord } from "@svc/db/asks/repo";
import { mask } from "@svc/tools";

/**
 * The overrides of an answer as they are shown: what the ask's answer schema marks as sensitive is `***`. The text itself where it
 * marks nothing of them. They were checked against the schema.
 */
export function shownOverrides(ask: Pick<AskRecord, "answerSchema">, overridesJson: string): string {
  if (overridesJson === "" || ask.answerSchema === "") return overridesJson;
  const values = readJsonObject(overridesJson, "the overrides of an answer");
  const shown = mask(readJsonObject(ask.answerSchema, "the answer schema of a point"), values);
  const text = JSON.stringify(shown);
  return text === JSON.stringify(values) ? overridesJson : text;
}

type Sealed = Pick<AskRecord, "id" | "projectId">;

/** Seals overrides as they were answered, for their ask. */
export function sealOverrides(sealer: Sealer, ask: Sealed, overridesJson: string): Buffer {
  return sealer.seal(Buffer.from(overridesJson, "utf8"), contextOf(ask));
}

/** The overrides of a settled ask as they were answered. Throws SealError. */
export function openOverrides(sealer: Sealer, ask: Sealed, sealed: Uint8Array): string {
  return sealer.open(sealed, contextOf(ask)).toString("utf8");
}

function contextOf({ projectId, id }: { readonly projectId: ProjectId; readonly id: string }): string {
  return `${projectId}/job_asks/${id}`;
}
