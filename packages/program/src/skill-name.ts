/** A skill, as a program or a caller names it. `version`: 0 means the newest version. */
export type SkillName = { readonly slug: string; readonly version: number };

/** The name of a skill: `skills.announce`, or a version of it, `skills.announce@3`. */
export const skillNamePattern = /^skills\.([a-z][a-z0-9_]{0,62})(?:@([1-9][0-9]{0,8}))?$/;

/** Returns the skill that a text names, or undefined if the text is not the name of a skill. */
export function readSkillName(text: string): SkillName | undefined {
  const [, slug, version] = skillNamePattern.exec(text) ?? [];
  return slug === undefined ? undefined : { slug, version: Number(version ?? 0) };
}
