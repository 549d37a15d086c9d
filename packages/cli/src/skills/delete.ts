import type { Command } from "commander";
import { addProjectOptions, openProjectClient, type ProjectOptions } from "../client/open-client.ts";
import type { CommandContext } from "../command/context.ts";
import { addExamples } from "../command/examples.ts";
import { addJson, type JsonOption } from "../command/options.ts";
import { plainText } from "../text/plain.ts";
import { addSkillVersion, type SkillVersionOption, skillSlugOf } from "./name.ts";

/** Adds `svc skills delete`. */
export function addSkillDelete(skills: Command, context: CommandContext): void {
  const remove = skills
    .command("delete")
    .description("delete a skill, or one version of it; jobs under way go on (key of an approver)")
    .argument("<skill>", "name of the skill")
    .action(async (name: string, options: ProjectOptions & JsonOption & SkillVersionOption) => {
      const { jobs } = await openProjectClient(options, context);
      const slug = skillSlugOf(name);
      await jobs.deleteSkill({ slug, version: options.skillVersion ?? 0 });
      const which = options.skillVersion === undefined ? "" : `version ${options.skillVersion} of `;
      context.print(options.json ? JSON.stringify({ deleted: slug }) : `${which}${plainText(slug)} is deleted`);
    });
  addSkillVersion(remove, "the version; without it all of them");
  addExamples(addProjectOptions(addJson(remove, "the name as JSON")), [
    "svc skills delete announce",
    "svc skills delete announce --skill-version 2",
  ]);
}
