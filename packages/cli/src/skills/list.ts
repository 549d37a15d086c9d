import { type Skill, SkillSchema } from "@svc/gen/jobs";
import type { Command } from "commander";
import { addProjectOptions, openProjectClient, type ProjectOptions } from "../client/open-client.ts";
import { collectPages } from "../client/pages.ts";
import type { CommandContext } from "../command/context.ts";
import { addExamples } from "../command/examples.ts";
import { addJson, type JsonOption } from "../command/options.ts";
import { messageListText } from "../text/message.ts";
import { plainText } from "../text/plain.ts";
import { tableLines } from "../text/table.ts";
import { skillSlugOf } from "./name.ts";

/** Adds `svc skills list`. */
export function addSkillList(skills: Command, context: CommandContext): void {
  const list = skills
    .command("list", { isDefault: true })
    .description("list the project's skills, each in its newest version; or every version of one")
    .argument("[skill]", "name of a skill whose versions are listed")
    .action(async (name: string | undefined, options: ProjectOptions & JsonOption) => {
      const { jobs } = await openProjectClient(options, context);
      const slug = name === undefined ? "" : skillSlugOf(name);
      const found = await collectPages(async (pageToken) => {
        const { skills: items, nextPageToken } = await jobs.listSkills({ slug, pageSize: 500, pageToken });
        return { items, nextPageToken };
      });
      if (options.json) return context.print(messageListText(SkillSchema, found));
      const header = ["SKILL", "VERSION", "CLASS", "DESCRIPTION"];
      for (const line of tableLines(header, found.map(skillRow))) context.print(line);
    });
  addExamples(addProjectOptions(addJson(list, "the skills as a JSON list")), [
    "svc skills list",
    "svc skills list announce",
  ]);
}

function skillRow({ slug, version, accessClass, description }: Skill): string[] {
  return [plainText(slug), String(version), accessClass, plainText(description)];
}
