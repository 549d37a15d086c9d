import { jobNotFound } from "@svc/asks";
import { type ProjectPrincipal, requireId } from "@svc/core";
import { type AccessClass, type EstimateDocument, jobsForProject, type NewJobEvent, skillsForProject } from "@svc/db";
import { parseCheckedProgram } from "@svc/program";
import type { JobsContext } from "../api/context.ts";
import { openProgram } from "../drive/stored-program.ts";
import {
  jobNotPromotable,
  skillDescriptionInvalid,
  skillSlugInvalid,
  skillSlugTaken,
  skillsTooMany,
} from "../errors.ts";
import { skillsToolkitSlug } from "./toolkit.ts";

const descriptionMax = 1000;
/** Every node that serves the project holds their schemas. */
const skillsMax = 200;

/** What PromoteJob is asked. */
export type Promotion = { readonly jobId: string; readonly slug: string; readonly description: string };

/** Makes a tool of a job's program and answers its slug; the project's view has it from now on. Throws the refusals of PromoteJob. */
export async function promoteJob(
  { db, clock, sealer, views }: Pick<JobsContext, "db" | "clock" | "sealer" | "views">,
  { projectId, keyId }: ProjectPrincipal,
  { jobId, slug, description }: Promotion,
): Promise<string> {
  const id = requireId("job", "jobId", jobId);
  const job = await jobsForProject(db, projectId).find(id);
  if (job === undefined) throw jobNotFound("jobId", jobId);
  if (job.mode !== "live") throw jobNotPromotable(jobId, "was simulated: nothing shows that its writes work");
  if (job.status !== "succeeded") throw jobNotPromotable(jobId, `is ${job.status}, not succeeded`);
  if (!/^[a-z][a-z0-9_]{0,62}$/.test(slug)) throw skillSlugInvalid(slug);
  const length = [...description.trim()].length;
  if (length === 0 || [...description].length > descriptionMax) throw skillDescriptionInvalid([...description].length);
  const accessClass = worstOf(job.estimate);
  const inputSchema = checkInputSchema(jobId, openProgram(sealer, job, job), accessClass);
  const { programDigest } = job;
  const toolSlug = `${skillsToolkitSlug}.${slug}`;
  const event: NewJobEvent = {
    type: "job-promoted",
    stepId: "",
    payload: JSON.stringify({ toolSlug }),
    principalChain: [`key:${keyId}`],
  };
  const skill = { slug, description, jobId: id, programDigest, accessClass, inputSchema, createdAt: clock.now() };
  const added = await skillsForProject(db, projectId).add(skill, event, skillsMax);
  if (added === "taken") throw skillSlugTaken(slug);
  if (added === "too_many") throw skillsTooMany(skillsMax);
  views.forget(projectId);
  return toolSlug;
}

/** A program that makes no call is a read. */
function worstOf({ accessClasses }: EstimateDocument): AccessClass {
  return accessClasses.at(-1) ?? "read";
}

/** Answers the JSON text of the schema. */
function checkInputSchema(jobId: string, programJson: string, accessClass: AccessClass): string {
  const { inputSchema } = parseCheckedProgram(programJson);
  if (inputSchema === undefined) throw jobNotPromotable(jobId, "has a program that declares no inputSchema");
  const { properties = {} } = inputSchema as { readonly properties?: object };
  if (accessClass === "destructive" && Object.hasOwn(properties, "confirm")) {
    throw jobNotPromotable(
      jobId,
      "has an inputSchema with a property confirm, which a destructive tool takes for itself",
    );
  }
  return JSON.stringify(inputSchema);
}
