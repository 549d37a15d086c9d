import { type JsonObject, type ProjectId, readJsonObject, type Sealer, type StandingRunId } from "@svc/core";
import type { StandingRunRecord } from "@svc/db/standing/runs";

/** Where the input of a run that a caller gave stands: no other place opens it. */
export function inputPlace(projectId: ProjectId, runId: StandingRunId): string {
  return `${projectId}/standing_runs/${runId}/input`;
}

/** Seals what a caller gave. */
export function sealInput(sealer: Sealer, place: string, input: JsonObject): Buffer {
  return sealer.seal(Buffer.from(JSON.stringify(input), "utf8"), place);
}

/** What a caller gave; undefined where the definition makes the input. */
export function openInput(
  sealer: Sealer,
  { id, projectId, input }: Pick<StandingRunRecord, "id" | "projectId" | "input">,
): JsonObject | undefined {
  if (input === null) return undefined;
  return readJsonObject(sealer.open(input, inputPlace(projectId, id)).toString("utf8"), "the input of a run");
}
