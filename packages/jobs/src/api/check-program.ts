import { create } from "@bufbuild/protobuf";
import { Fault, type ProjectPrincipal } from "@svc/core";
import { type CheckProgramResponse, CheckProgramResponseSchema } from "@svc/gen/jobs";
import type { ProgramFault } from "@svc/program";
import { fieldOf, listedFaults } from "../faulty-program.ts";
import { checkForProject } from "./check.ts";
import { checkApproval } from "./confirmer.ts";
import type { JobsContext } from "./context.ts";
import { toEstimate } from "./convert-receipts.ts";
import { toNotes } from "./notes.ts";
import { hashOf } from "./submit.ts";

/** Checks a program as SubmitJob does for a live run. Returns the findings and stores nothing. */
export async function checkForSubmission(
  context: Pick<JobsContext, "db" | "sealer" | "views" | "accounts" | "meter">,
  { projectId, role, binding }: ProjectPrincipal,
  programJson: string,
): Promise<CheckProgramResponse> {
  const checked = await checkForProject(context, { projectId, programJson, isStored: false, binding: binding ?? null });
  if ("faults" in checked) {
    return create(CheckProgramResponseSchema, {
      ...toFaults(checked, programJson),
      programHash: hashOf(programJson) ?? "",
    });
  }
  const { programHash, estimate, notes } = checked;
  const approval = await checkApproval(context.db, { projectId, role }, checked);
  return create(CheckProgramResponseSchema, {
    faults: approval instanceof Fault ? faultsOf(approval) : [],
    programHash,
    estimate: toEstimate(estimate),
    needsApproval: approval !== false,
    notes: toNotes(notes, "programJson"),
  });
}

/**
 * Converts the faults of a program to the form of the API. One response lists only a limited number of them; the number of the others is
 * returned too.
 */
export function toFaults(
  { faults, omitted }: { readonly faults: readonly ProgramFault[]; readonly omitted: number },
  programJson: string,
) {
  const listed = listedFaults(faults, programJson.length);
  return {
    faults: listed.map(({ code, pointer, message, hint }) => {
      return { reason: code, field: fieldOf(pointer), message, help: String(hint) };
    }),
    omittedFaults: faults.length - listed.length + omitted,
  };
}

function faultsOf({ message, details }: Fault) {
  return details.map(({ reason, field, help }) => ({ reason, field, message, help }));
}
