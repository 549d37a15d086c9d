import { call, text } from "@svc/core";
import type { Check } from "../check/context.ts";
import { examineWithConstants } from "../check/examine-template.ts";
import type { KnownSkill } from "../check/known-skill.ts";
import { checkReferences } from "../check/references.ts";
import { checkSensitiveArguments } from "../check/sensitive.ts";
import { type Path, pathOf } from "../json.ts";
import { type ObjectForm, ref } from "../read/form.ts";
import { skillNamePattern } from "../skill-name.ts";
import type { ValueTemplate } from "../template.ts";
import { examine } from "../types/examine.ts";
import { filledIn, namesOf } from "../types/schema-type.ts";
import { nothing, type Scope } from "../types/scope.ts";
import type { AnyStep, StepLanguage } from "./language.ts";
import { readArgs } from "./parts/arguments.ts";
import { slugTitle } from "./parts/title.ts";

/** Step kind `run`: runs a skill as a child job. The result of the child job is the step's value. */
export type RunStep = AnyStep & {
  readonly kind: "run";
  /** The name of the skill in the program: `skills.announce` for the newest version, or `skills.announce@3` for version 3. */
  readonly skill: string;
  /** The input of the skill: a template of kind `object`, or of kind `literal` if it has no references. */
  readonly input: ValueTemplate;
};

const form: ObjectForm = {
  description:
    "Runs a skill as a separate job and waits for its end; its result is steps.<id>. It uses this job's limits and approval.",
  required: { run: ref("skill") },
  optional: { input: ref("skillInput") },
  examples: [{ id: "tell", run: "skills.announce", input: { text: { $ref: "input.text" } } }],
};

/** Definition of the step kind `run`: its fields, and how svc reads and checks such a step and estimates its calls, rows and questions. */
export const runLanguage: StepLanguage<RunStep> = {
  form,
  formInMap: { ...form, description: "Runs a skill for each row of a map, as a separate job." },
  refusedInItself: undefined,
  takesOnError: true,
  definitions: {
    skill: {
      description:
        "A skill of the project: skills.announce for the newest version, skills.announce@3 for a certain one.",
      type: "string",
      pattern: skillNamePattern.source,
      maxLength: 80,
      examples: ["skills.announce", "skills.announce@3"],
    },
    skillInput: {
      description: "Input of the skill, by name; any value in it may be a reference.",
      type: "object",
      properties: { $ref: false, $text: false },
      examples: [{ text: { $ref: "input.text" } }],
    },
  },
  named: { value: "runs", set: undefined, row: undefined },

  read(base, fields, { reader }) {
    const named = fields.at("run").value;
    const meant = typeof named === "string" && /^[a-z][a-z0-9_]{0,59}$/.test(named) ? `"skills.${named}", or ` : "";
    const hint = text`write ${meant}skills.<name>, or skills.<name>@<version>, as ${call("ListSkills")} lists it`;
    const skill = reader.text(fields.at("run"), { max: 80, pattern: skillNamePattern, hint });
    const input = readArgs(fields.at("input"), reader);
    return skill === undefined ? undefined : { kind: "run", ...base, skill, input };
  },

  check(step, { scope, check }) {
    const path = [...pathOf(step.pointer), "input"];
    checkReferences(step.input, path, scope, check.faults);
    const skill = findSkill(step, check);
    if (skill === undefined) return { own: { ...nothing, value: { type: undefined } }, inner: [] };
    checkInput(step, skill, { path, scope, check });
    return { own: { ...nothing, value: { type: skill.resultType } }, inner: [] };
  },

  title: ({ skill }) => `Run ${slugTitle(skill)}`,
  lists: () => [],
  calls: () => [],
  runs: ({ skill }) => [skill],
  asks: () => [],
  estimate: ({ skill }, { useOfSkill }) => useOfSkill(skill),
};

/** Returns the skill that a step runs. If the skill is not allowed to run, records a fault and returns undefined. */
function findSkill({ skill, pointer }: RunStep, { skills, faults }: Check): KnownSkill | undefined {
  const found = skills.get(skill);
  if (found === undefined) throw new Error(`svc did not look up ${skill}`);
  if (!("code" in found)) return found;
  faults.add(found.code, [...pathOf(pointer), "run"], found.message, found.hint);
  return undefined;
}

type Place = { readonly path: Path; readonly scope: Scope; readonly check: Check };

/** Checks the input that a `run` step gives to its skill against the skill's input schema. Records every fault. */
function checkInput({ skill, input }: RunStep, { inputSchema }: KnownSkill, { path, scope, check }: Place): void {
  checkSensitiveArguments({ args: input, inputSchema, path }, scope, check);
  const { faults } = examineWithConstants(input, scope, {
    examined: (template, examiner) => examine(filledIn(template, inputSchema), inputSchema, examiner).faults,
    validator: check.tenantValidator,
  });
  const hint = `${skill} takes ${namesOf(inputSchema).join(", ") || "no input"}`;
  for (const { path: at, message, isYounger } of faults) {
    const found = ["PROGRAM_ARGUMENT_INVALID", [...path, ...at], message, hint] as const;
    if (isYounger) check.faults.addYounger(...found);
    else check.faults.add(...found);
  }
}
