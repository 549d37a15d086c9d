import type { JsonSchema } from "@svc/catalog";
import type { FaultText } from "@svc/core";
import type { ProgramFaultCode } from "../faults.ts";

/** A version of a skill, with its program as submitted. */
export type SkillText = { readonly slug: string; readonly version: number; readonly programJson: string };

/** The facts about a skill that svc needs to check the `run` steps that use the skill. */
export type KnownSkill = {
  readonly inputSchema: JsonSchema;
  /** Schema of the skill's result. */
  readonly resultType: JsonSchema;
  readonly mayWrite: boolean;
};

/** The reason why a program may not run a skill. */
export type RefusedSkill = { readonly code: ProgramFaultCode; readonly message: string; readonly hint: FaultText };

/** The skills that a program names. The keys are the names that the program uses. */
export type KnownSkills = ReadonlyMap<string, KnownSkill | RefusedSkill>;
