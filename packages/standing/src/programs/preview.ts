import type { ProjectPrincipal } from "@svc/core";
import type { EstimateDocument, StandingProgramRecord } from "@svc/db";
import { checkDefinition } from "../definition/check.ts";
import type { Definition } from "../definition/definition.ts";
import type { StandingContext } from "../engine/context.ts";
import { fireTimeOf, nextOfSource } from "../schedule/due.ts";
import { breath } from "../schedule/read.ts";

/** What is previewed: a definition, else that of a program that stands; or a definition as the program's next. */
export type PreviewRequest = {
  readonly program: StandingProgramRecord | undefined;
  readonly definitionJson: string;
  readonly count: number;
};

/** What would come of a definition. */
export type Preview = {
  readonly times: readonly { readonly atMs: number; readonly effectiveMs: number }[];
  readonly timeZone: string;
  readonly estimate: EstimateDocument;
  readonly needsApproval: boolean;
};

/** Tells when a definition would start next, and what a run can do. Throws the faults of CreateStandingProgram. */
export async function preview(
  context: StandingContext,
  { projectId, role }: ProjectPrincipal,
  { program, definitionJson, count }: PreviewRequest,
): Promise<Preview> {
  const { clock, versions, db } = context;
  const nowMs = clock.now();
  if (program !== undefined && definitionJson === "") {
    const name = { programId: program.id, projectId, version: program.version };
    const { definition, record } = (await versions.get(db, [name]))(name);
    const times = await timesOf(definition, program, program.nextAt ?? nowMs + 1, count);
    return { times, timeZone: definition.timeZone, estimate: record.estimate, needsApproval: record.needsApproval };
  }
  const checked = await checkDefinition(context, { projectId, role, definitionJson, nowMs });
  if ("refusal" in checked) throw checked.refusal;
  const { definition, start } = checked;
  const times = await timesOf(definition, program, nowMs + 1, count);
  return { times, timeZone: definition.timeZone, estimate: start.estimate, needsApproval: start.needsApproval };
}

async function timesOf(
  { source }: Definition,
  program: StandingProgramRecord | undefined,
  fromMs: number,
  count: number,
): Promise<Preview["times"]> {
  const next = nextOfSource(source);
  const times: { atMs: number; effectiveMs: number }[] = [];
  let atMs = next(fromMs - 1);
  while (atMs !== undefined && times.length < count) {
    times.push({ atMs, effectiveMs: (program && fireTimeOf(program.id, atMs, source)) ?? atMs });
    atMs = next(atMs);
    if (times.length % 20 === 0) await breath();
  }
  return times;
}
