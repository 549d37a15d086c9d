import { JobsService } from "@svc/gen/jobs";
import { InvalidArgumentError } from "commander";
import type { Run } from "../command/declared.ts";
import { call, list, topic } from "../command/topic.ts";
import { plainText } from "../text/plain.ts";

const { listSkills, getSkill, deleteSkill } = JobsService.method;

type SkillValues = { readonly skill: string; readonly skillVersion?: number };

/** The commands `svc skills list|get|delete`, for skills (programs that a project has made into tools). */
export const addSkillsCommand = topic({
  says: "list, read and delete skills, the tools made from jobs",
  examples: ["svc skills", "svc skills get announce", "svc skills delete announce --skill-version 2"],
  commands: {
    list: list(listSkills, {
      says: "list the project's skills, each in its newest version; or every version of one skill",
      isDefault: true,
      takes: { "[skill]": ["name of a skill, to list its versions", { fills: "slug", parse: skillSlugOf }] },
      rows: "skills",
      table: { SKILL: "slug", VERSION: "version", CLASS: ({ accessClass }) => accessClass, DESCRIPTION: "description" },
      json: "the skills as a JSON list",
      examples: ["svc skills list", "svc skills list announce"],
    }),
    get: call(getSkill, {
      says: "print the program of a skill, ready to be submitted as a job",
      takes: { "<skill>": ["name of the skill", { fills: "slug", parse: skillSlugOf }] },
      options: [versionOption("version (default: the newest)")],
      result: "skill",
      json: "the skill as JSON",
      shows: ({ skill }, { context }) => {
        context.note(`${skill?.toolSlug}, version ${skill?.version}, promoted from ${skill?.jobId}`);
        return skill?.programJson ?? "";
      },
      examples: ["svc skills get announce", "svc skills get announce --skill-version 2 > announce.json"],
    }),
    delete: call(deleteSkill, {
      says: "delete a skill, or one version of it; running jobs continue (needs an approver's key)",
      takes: { "<skill>": ["name of the skill", { fills: "slug", parse: skillSlugOf }] },
      options: [versionOption("version (default: all versions)")],
      deleted: "slug",
      json: "the name as JSON",
      shows: (_, { values: { skill, skillVersion } }: Pick<Run<SkillValues>, "values">) => {
        const which = skillVersion === undefined ? "" : `version ${skillVersion} of `;
        return `${which}${plainText(skill)} is deleted`;
      },
      examples: ["svc skills delete announce", "svc skills delete announce --skill-version 2"],
    }),
  },
});

function versionOption(help: string) {
  return ["--skill-version <number>", help, { fills: "version", parse: readVersion }] as const;
}

/** Returns the slug of a skill. The name may be `announce` or `skills.announce`. */
function skillSlugOf(name: string): string {
  return name.replace(/^skills\./, "");
}

function readVersion(text: string): number {
  if (!/^[1-9][0-9]{0,8}$/.test(text)) throw new InvalidArgumentError("expected a version, from 1 on");
  return Number(text);
}
