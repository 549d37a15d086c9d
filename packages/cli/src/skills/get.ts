import { SkillSchema } from "@svc/gen/jobs";
import type { Command } from "commander";
import { addProjectOptions, openProjectClient, type ProjectOptions } from "../client/open-client.ts";
import type { CommandContext } from "../command/context.ts";
import { addExamples } from "../command/examples.ts";
import { addJson, type JsonOption } from "../command/options.ts";
import { messageText } from "../text/message.ts";
import { addSkillVersion, type SkillVersionOption, skillSlugOf } from "./name.ts";

/** Adds `svc skills get`. */
export function addSkillGet(skills: Command, context: CommandContext): void {
  const get = skills
    .command("get")
    .description("print the program of a skill, as a job takes it")
    .argument("<skill>", "name of the skill")
    .action(async (name: string, options: ProjectOptions & JsonOption & SkillVersionOption) => {
      const { jobs } = await openProjectClient(options, context);
      const { skill } = await jobs.getSkill({ slug: skillSlugOf(name), version: options.skillVersion ?? 0 });
      if (skill === undefined) return;
      if (options.json) return context.print(messageText(SkillSchema, skill));
      context.note(`${skill.toolSlug}, version ${skill.version}, promoted from ${skill.jobId}`);
      context.print(skill.programJson);
    });
  addSkillVersion(get, "the version; without it the newest");
  addExamples(addProjectOptions(addJson(get, "the skill as JSON")), [
    "svc skills get announce",
    "svc skills get announce --skill-version 2 > announce.json",
  ]);
}
