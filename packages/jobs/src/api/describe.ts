import type { MessageInitShape } from "@bufbuild/protobuf";
import { askFaults } from "@svc/asks";
import { type ProjectPrincipal, requireId } from "@svc/core";
import { jobsForProject } from "@svc/db/jobs/repo";
import {
  type DescribeProgramRequest,
  type DescribeProgramResponseSchema,
  type ProgramReadSchema,
  ProgramReadKind as WireReadKind,
} from "@svc/gen/jobs";
import {
  type DescribedStep,
  expressionWords,
  type ProgramDescription,
  type ProgramRead,
  type ReadKind,
} from "@svc/program";
import { openReadable } from "../drive/store/stored-program.ts";
import { jobFaults } from "../errors.ts";
import { checkForProject, describeForProject } from "./check.ts";
import { toFaults } from "./check-program.ts";
import type { JobsContext } from "./context.ts";
import { hashOf } from "./submit.ts";

type DescribeContext = Pick<JobsContext, "db" | "sealer" | "views" | "accounts" | "meter">;

/**
 * Answers the API call DescribeProgram: describes the program in the request, or the program of a job of the caller's project. Throws
 * DESCRIBED_PROGRAM_UNCLEAR or JOB_NOT_FOUND.
 */
export async function answerDescribe(
  context: DescribeContext,
  principal: ProjectPrincipal,
  { programJson, jobId, withWords }: DescribeProgramRequest,
): Promise<MessageInitShape<typeof DescribeProgramResponseSchema>> {
  if ((programJson === "") === (jobId === "")) throw jobFaults.DESCRIBED_PROGRAM_UNCLEAR(jobId !== "");
  const answer =
    jobId === "" ? await describeText(context, principal, programJson) : await describeJob(context, principal, jobId);
  return { ...answer, words: withWords ? [...expressionWords()] : [] };
}

async function describeText(context: DescribeContext, principal: ProjectPrincipal, programJson: string) {
  const { projectId, binding = null } = principal;
  const checked = await checkForProject(context, { projectId, programJson, isStored: false, binding });
  const isFaulty = "faults" in checked;
  const answer = { ...(isFaulty && toFaults(checked, programJson)), programHash: hashOf(programJson) ?? "" };
  // The names that a step can use include the fields of tools' answers. A scoped key must not learn those of tools outside its scope.
  if (isFaulty && binding !== null) return answer;
  const described = await describeForProject(context, { projectId, programJson, isStored: false });
  return { ...answer, ...(described && toDescription(described)) };
}

async function describeJob(context: DescribeContext, { projectId }: ProjectPrincipal, jobId: string) {
  const { db, sealer } = context;
  const job = await jobsForProject(db, projectId).find(requireId("job", "jobId", jobId));
  if (job === undefined) throw askFaults.JOB_NOT_FOUND("jobId", jobId);
  const programJson = openReadable(sealer, job, job);
  const described = await describeForProject(context, { projectId, programJson, isStored: true });
  return { programHash: job.programHash, ...(described && toDescription(described)) };
}

function toDescription({ title, steps, result }: ProgramDescription) {
  return {
    title,
    steps: steps.map(toStep),
    result: result.map(({ name, type, reads }) => ({ name, type, reads: reads.map(toRead) })),
  };
}

function toStep({ id, parentId, tool, access, reads, scope, ...step }: DescribedStep) {
  return {
    ...{ stepId: id, parentStepId: parentId, toolSlug: tool, accessClass: access ?? "" },
    ...{ kind: step.kind, branch: step.branch, title: step.title, toolkitName: step.toolkitName },
    reads: reads.map(toRead),
    scope: [...scope],
    hasMoreNames: step.hasMoreNames,
  };
}

const readKinds: Readonly<Record<ReadKind, WireReadKind>> = {
  input: WireReadKind.INPUT,
  params: WireReadKind.PARAMS,
  value: WireReadKind.VALUE,
  error: WireReadKind.ERROR,
  rows: WireReadKind.ROWS,
  count: WireReadKind.COUNT,
  answer: WireReadKind.ANSWER,
  undone: WireReadKind.UNDONE,
};

function toRead({ from, path, what }: ProgramRead): MessageInitShape<typeof ProgramReadSchema> {
  return { from, path, what: readKinds[what] };
}
