import { type Command, InvalidArgumentError, Option } from "commander";

/** Which version of a skill is meant; undefined where none is named. */
export type SkillVersionOption = { readonly skillVersion?: number };

/** The name of a skill from how it may be written: `announce` or `skills.announce`. */
export function skillSlugOf(name: string): string {
  return name.replace(/^skills\./, "");
}

/** Adds `--skill-version`; `what` says what is meant without it. */
export function addSkillVersion(command: Command, what: string): Command {
  return command.addOption(new Option("--skill-version <number>", what).argParser(readVersion));
}

function readVersion(text: string): number {
  if (!/^[1-9][0-9]{0,8}$/.test(text)) throw new InvalidArgumentError("expected a version, from 1 on");
  return Number(text);
}
