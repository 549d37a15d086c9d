import type { Command } from "commander";
import type { CommandContext } from "./command/context.ts";
import { addExamples } from "./command/examples.ts";
import { addSkillDelete } from "./skills/delete.ts";
import { addSkillGet } from "./skills/get.ts";
import { addSkillList } from "./skills/list.ts";

/** Adds `svc skills list|get|delete`. */
export function addSkillsCommand(program: Command, context: CommandContext): void {
  const skills = program.command("skills").description("list, read and delete the skills that jobs were promoted to");
  addExamples(skills, ["svc skills", "svc skills get announce", "svc skills delete announce --skill-version 2"]);
  addSkillList(skills, context);
  addSkillGet(skills, context);
  addSkillDelete(skills, context);
}
