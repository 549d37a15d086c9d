import type { ProjectId, Sealer } from "@svc/core";
import type { JobProgramRecord } from "@svc/db/jobs/load-program";
import { withOldForms } from "@svc/program";

/** Which program: jobs of a project that were submitted with the same text and definitions share one. */
export type ProgramPlace = { readonly projectId: ProjectId; readonly programDigest: Uint8Array };

/** Seals the text of a program for its row. */
export function sealProgram(sealer: Sealer, place: ProgramPlace, programJson: string): Buffer {
  return sealer.seal(Buffer.from(programJson, "utf8"), contextOf(place));
}

/** The text of a program as it was submitted; of versions before 0.2 it stands unsealed. Throws SealError. */
export function openProgram(
  sealer: Sealer,
  place: ProgramPlace,
  { program, sealedProgram }: Pick<JobProgramRecord, "program" | "sealedProgram">,
): string {
  if (sealedProgram !== null) return sealer.open(sealedProgram, contextOf(place)).toString("utf8");
  if (program === null) throw new Error(`a program of ${place.projectId} is in the store without its text`);
  return program;
}

/** Whether a version before 0.2 stored a program. */
export function isOld({ sealedProgram }: Pick<JobProgramRecord, "sealedProgram">): boolean {
  return sealedProgram === null;
}

/** The text of a program as it is read today: what a version before 0.2 stored says what it said then. Throws SealError. */
export function openReadable(
  sealer: Sealer,
  place: ProgramPlace,
  record: Pick<JobProgramRecord, "program" | "sealedProgram">,
): string {
  const programJson = openProgram(sealer, place, record);
  return isOld(record) ? withOldForms(programJson) : programJson;
}

function contextOf({ projectId, programDigest }: ProgramPlace): string {
  return `${projectId}/job_programs/${Buffer.from(programDigest).toString("hex")}`;
}
