import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import { projectList, requireId, requireProject } from "@svc/core";
import { type ListedSkill, skillsForProject } from "@svc/db/skills/repo";
import { type JobsService, type Skill, SkillSchema } from "@svc/gen/jobs";
import { parseCheckedProgram } from "@svc/program";
import { openProgram } from "../drive/store/stored-program.ts";
import { jobFaults } from "../errors.ts";
import { promoteJob } from "../skills/promote.ts";
import { skillToolSlug } from "../skills/toolkit.ts";
import type { JobsContext } from "./context.ts";
import { shownProgram } from "./drift.ts";

type Methods = Pick<ServiceImpl<typeof JobsService>, "promoteJob" | "listSkills" | "getSkill" | "deleteSkill">;

/**
 * Returns the methods of JobsService that promote a job's program to a skill (a tool of the project), and that list, read and delete
 * skills.
 */
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
      return { tool, version };
    },
    listSkills: projectList(sealer, {
      call: "ListSkills",
      order: { positionOf: positionOf, read: (text) => text },
      filter: ({ slug }) => ({ slug }),
      // A project has few skills, so they are all read, and a page is a part of the list.
      async rows({ filter: { slug }, page: { after }, caller: { projectId } }) {
        const skills = skillsForProject(db, projectId);
        const all = slug === "" ? await skills.list() : isStorable(slug) ? await skills.listVersions(slug) : [];
        return after === undefined ? all : all.filter((skill) => isBehind(skill, slug, after));
      },
      answer: (rows) => ({ skills: rows.map((skill) => toSkill(skill)) }),
    }),
    async getSkill({ slug, version }, ctx) {
      const { projectId } = requireProject(ctx);
      const found = isStorable(slug) ? await skillsForProject(db, projectId).find({ slug, version }) : undefined;
      if (found === undefined) throw jobFaults.SKILL_NOT_FOUND(slug, version);
      const programJson = openProgram(sealer, { projectId, programDigest: found.programDigest }, found);
      const inputSchema = found.inputSchema ?? JSON.stringify(parseCheckedProgram(programJson).inputSchema);
      const skill = toSkill({ ...found, inputSchema }, shownProgram(programJson));
      return { skill };
    },
    async deleteSkill({ slug, version }, ctx) {
      const { projectId } = requireProject(ctx);
      const skill = { slug, version };
      const isGone = isStorable(slug) && (await skillsForProject(db, projectId).delete(skill, clock.now()));
      if (!isGone) throw jobFaults.SKILL_NOT_FOUND(slug, version);
      views.forget(projectId);
      return {};
    },
  };
}

/** True if the database can store this slug. False if it cannot; then no skill has this slug. */
function isStorable(slug: string): boolean {
  return !slug.includes("\0");
}

/**
 * Returns the key after which the next page of a list continues: the slug of a skill, or the version if the list contains all versions of
 * one skill.
 */
function positionOf({ slug, version }: ListedSkill, filter: { readonly slug: string }): string {
  return filter.slug === "" ? slug : String(version);
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
