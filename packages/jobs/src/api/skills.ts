import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import { openPageToken, pageSizeOf, requireId, requireProject, sealPageToken } from "@svc/core";
import { type ListedSkill, skillsForProject } from "@svc/db";
import {
  DeleteSkillResponseSchema,
  GetSkillResponseSchema,
  type JobsService,
  ListSkillsResponseSchema,
  PromoteJobResponseSchema,
  type Skill,
  SkillSchema,
} from "@svc/gen/jobs";
import { parseCheckedProgram } from "@svc/program";
import { openProgram } from "../drive/stored-program.ts";
import { jobFaults } from "../errors.ts";
import { promoteJob } from "../skills/promote.ts";
import { skillToolSlug } from "../skills/toolkit.ts";
import type { JobsContext } from "./context.ts";
import { shownProgram } from "./shown-program.ts";

type Methods = Pick<ServiceImpl<typeof JobsService>, "promoteJob" | "listSkills" | "getSkill" | "deleteSkill">;

/** The methods about skills. */
export function skillMethods(context: JobsContext): Methods {
  const { db, clock, sealer, hints, views } = context;
  return {
    async promoteJob(request, ctx) {
      const principal = requireProject(ctx);
      const { toolSlug, version } = await promoteJob(context, principal, request);
      hints.notify(requireId("job", "jobId", request.jobId));
      const { projectId } = principal;
      const tool = (await views.forProject(projectId)).messages.tools.get(toolSlug)?.tool;
      if (tool === undefined) throw new Error(`the view of ${projectId} lacks ${toolSlug}, which was just stored`);
      return create(PromoteJobResponseSchema, { tool, version });
    },
    async listSkills({ slug, pageSize, pageToken }, ctx) {
      const { projectId } = requireProject(ctx);
      const scope = { call: "ListSkills", projectId, filters: { slug } };
      const size = pageSizeOf(pageSize);
      const after = pageToken === "" ? undefined : openPageToken(sealer, scope, pageToken);
      const skills = skillsForProject(db, projectId);
      // A project has few: they are read whole, and a page is a part of them.
      const all = slug === "" ? await skills.list() : isStorable(slug) ? await skills.listVersions(slug) : [];
      const left = after === undefined ? all : all.filter((skill) => isBehind(skill, slug, after));
      const page = left.slice(0, size);
      const last = left.length > size ? page.at(-1) : undefined;
      const nextPageToken = last === undefined ? "" : sealPageToken(sealer, scope, positionOf(last, slug));
      return create(ListSkillsResponseSchema, { skills: page.map((skill) => toSkill(skill)), nextPageToken });
    },
    async getSkill({ slug, version }, ctx) {
      const { projectId } = requireProject(ctx);
      const found = isStorable(slug) ? await skillsForProject(db, projectId).find({ slug, version }) : undefined;
      if (found === undefined) throw jobFaults.SKILL_NOT_FOUND(slug, version);
      const programJson = openProgram(sealer, { projectId, programDigest: found.programDigest }, found);
      const inputSchema = found.inputSchema ?? JSON.stringify(parseCheckedProgram(programJson).inputSchema);
      const skill = toSkill({ ...found, inputSchema }, shownProgram(programJson));
      return create(GetSkillResponseSchema, { skill });
    },
    async deleteSkill({ slug, version }, ctx) {
      const { projectId } = requireProject(ctx);
      const skill = { slug, version };
      const isGone = isStorable(slug) && (await skillsForProject(db, projectId).delete(skill, clock.now()));
      if (!isGone) throw jobFaults.SKILL_NOT_FOUND(slug, version);
      views.forget(projectId);
      return create(DeleteSkillResponseSchema);
    },
  };
}

/** No skill has a name that the store cannot hold. */
function isStorable(slug: string): boolean {
  return !slug.includes("\0");
}

/** Where a list goes on: behind a skill, or, of one skill, a version. */
function positionOf({ slug, version }: ListedSkill, ofSlug: string): string {
  return ofSlug === "" ? slug : String(version);
}

function isBehind({ slug, version }: ListedSkill, ofSlug: string, after: string): boolean {
  return ofSlug === "" ? slug > after : version < Number(after);
}

function toSkill(skill: ListedSkill, programJson = ""): Skill {
  const { slug, version, description, jobId, accessClass, inputSchema, createdAt } = skill;
  return create(SkillSchema, {
    slug,
    version,
    toolSlug: skillToolSlug(slug),
    description,
    jobId,
    accessClass,
    inputSchemaJson: inputSchema,
    createdAt: timestampFromMs(createdAt),
    programJson,
  });
}
