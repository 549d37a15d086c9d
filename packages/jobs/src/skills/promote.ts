import { type ProjectPrincipal, requireId } from "@svc/core";
import { jobsForProject, type NewJobEvent, skillsForProject } from "@svc/db";
import type { Tool } from "@svc/gen/catalog";
import type { PromoteJobRequest } from "@svc/gen/jobs";
import { jobNotFound } from "../asks/errors.ts";
import {
  jobNotPromotable,
  skillDescriptionInvalid,
  skillSlugInvalid,
  skillSlugTaken,
  skillsTooMany,
} from "../errors.ts";
import type { ProgramEstimate } from "../program/estimate.ts";
import { parseCheckedProgram } from "../program/read-program.ts";
import type { JobsContext } from "../service/context.ts";
import { skillsToolkitSlug } from "./toolkit.ts";

const descriptionMax = 1000;
/** Every node that serves the project holds their schemas. */
const skillsMax = 200;

/** Makes a tool of a job's program and answers it as the catalog shows it. Throws the refusals of PromoteJob. */
export async function promoteJob(
  { db, clock, views }: Pick<JobsContext, "db" | "clock" | "views">,
  { projectId, keyId }: ProjectPrincipal,
  { jobId, slug, description }: Pick<PromoteJobRequest, "jobId" | "slug" | "description">,
): Promise<Tool> {
  const id = requireId("job", "jobId", jobId);
  const job = await jobsForProject(db, projectId).find(id);
  if (job === undefined) throw jobNotFound("jobId", jobId);
  if (job.mode !== "live") throw jobNotPromotable(jobId, "was simulated: nothing shows that its writes work");
  if (job.status !== "succeeded") throw jobNotPromotable(jobId, `is ${job.status}, not succeeded`);
  if (!/^[a-z][a-z0-9_]{0,62}$/.test(slug)) throw skillSlugInvalid(slug);
  const length = [...description.trim()].length;
  if (length === 0 || [...description].length > descriptionMax) throw skillDescriptionInvalid([...description].length);
  const accessClass = worstOf(job.estimate as ProgramEstimate);
  checkInputSchema(jobId, job.program, accessClass);
  const { programDigest } = job;
  const toolSlug = `${skillsToolkitSlug}.${slug}`;
  const event: NewJobEvent = {
    type: "job-promoted",
    stepId: "",
    payload: JSON.stringify({ toolSlug }),
    principalChain: [`key:${keyId}`],
  };
  const skill = { slug, description, jobId: id, programDigest, accessClass, createdAt: clock.now() };
  const added = await skillsForProject(db, projectId).add(skill, event, skillsMax);
  if (added === "taken") throw skillSlugTaken(slug);
  if (added === "too_many") throw skillsTooMany(skillsMax);
  views.forget(projectId);
  const tool = (await views.forProject(projectId)).messages.tools.get(toolSlug)?.tool;
  if (tool === undefined) throw new Error(`the view of ${projectId} lacks ${toolSlug}, which was just stored`);
  return tool;
}

/** A program that makes no call is a read. */
function worstOf({ accessClasses }: ProgramEstimate): string {
  return accessClasses.at(-1) ?? "read";
}

function checkInputSchema(jobId: string, programJson: string, accessClass: string): void {
  const { inputSchema } = parseCheckedProgram(programJson);
  if (inputSchema === undefined) throw jobNotPromotable(jobId, "has a program that declares no inputSchema");
  const { properties = {} } = inputSchema as { readonly properties?: object };
  if (accessClass === "destructive" && Object.hasOwn(properties, "confirm")) {
    throw jobNotPromotable(
      jobId,
      "has an inputSchema with a property confirm, which a destructive tool takes for itself",
    );
  }
}
