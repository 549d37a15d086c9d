import type { ProjectId, Sealer } from "@svc/core";
import type { AskRecord } from "@svc/db/asks/repo";

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
