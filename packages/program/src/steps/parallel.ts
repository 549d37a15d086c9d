import { formatValue, isObject } from "@svc/core";
import type { Bounds } from "../limits.ts";
import { type ObjectForm, ref } from "../read/form.ts";
import { idForm } from "../read/name.ts";
import type { ShapeNode } from "../read/shape.ts";
import { nothing } from "../types/scope.ts";
import type { AnyStep, StepLanguage, StepReadContext } from "./language.ts";
import { bothUses, noUse } from "./use.ts";

/**
 * Step kind `parallel`: has named branches, which are lists of steps (of type `Inner`) that run at the same time. The job continues after
 * the last branch has ended.
 */
export type ParallelStepOf<Inner extends AnyStep> = AnyStep & {
  readonly kind: "parallel";
  readonly branches: readonly { readonly name: string; readonly steps: readonly Inner[] }[];
};

const branchCount: Bounds = { min: 2, max: 20 };
const stepCount = { min: 1, max: Number.MAX_SAFE_INTEGER };

const example = {
  deals: [{ id: "deals", call: "sales_crm.list_deals", entity: "ops", args: {} }],
  team: [{ id: "who", call: "messaging_bot.get_me", entity: "ops", args: {} }],
};

const form: ObjectForm = {
  description:
    "Branches that run at the same time: none reads values of another, and the step ends when all have ended. If one fails, branches without a call so far do not begin, the others finish, and the step fails.",
  required: {
    parallel: {
      description: "2 to 20 branches, each a list of steps under a name: letters, digits and _, a letter first.",
      type: "object",
      minProperties: branchCount.min,
      maxProperties: branchCount.max,
      propertyNames: { pattern: idForm.pattern.source },
      additionalProperties: ref("branch"),
      examples: [example],
    },
  },
  optional: {},
  examples: [{ id: "gather", parallel: example }],
};

/**
 * Returns the definition of the step kind `parallel`: its fields, and how svc reads and checks such a step and estimates its calls, rows
 * and questions. `Inner`: the type of the steps in its branches.
 */
export function parallelLanguage<Inner extends AnyStep>(): StepLanguage<ParallelStepOf<Inner>, Inner> {
  return {
    form,
    formInMap: undefined,
    refusedInItself: {
      message: "is a parallel inside a branch of another",
      hint: "give the outer one more branches, or write the two one after the other",
    },
    takesOnError: true,
    definitions: {},
    named: { value: undefined, set: undefined, row: undefined },

    read: (base, fields, reading) => ({
      kind: "parallel",
      ...base,
      branches: readBranches(fields.at("parallel"), reading),
    }),

    check({ branches }, { scope, list }) {
      return { own: nothing, inner: branches.flatMap(({ steps }) => [...list(steps, scope)]) };
    },

    title: ({ branches }) => `${branches.length} branches at once`,
    lists: ({ branches }) => branches.map(({ steps }) => steps),
    calls: () => [],
    asks: () => [],
    estimate: ({ branches }, { list }) => branches.map(({ steps }) => list(steps)).reduce(bothUses, noUse),
  };
}

function readBranches<Inner extends AnyStep>(
  node: ShapeNode,
  { reader, list }: StepReadContext<Inner>,
): ParallelStepOf<Inner>["branches"] {
  const count = Object.keys(isObject(node.value) ? node.value : {}).length;
  const malformed = (at: ShapeNode, message: string, hint: string) =>
    reader.faults.add("PROGRAM_MALFORMED", at.path, message, hint);
  const entries = Object.entries(reader.object(node, example) ?? {});
  if (node.value !== undefined && isObject(node.value) && (count < branchCount.min || count > branchCount.max)) {
    malformed(
      node,
      `has ${count} branches`,
      `write ${branchCount.min} to ${branchCount.max} of them, each a list of steps`,
    );
  }
  return entries.slice(0, branchCount.max).map(([name, value]) => {
    const at: ShapeNode = { value, path: [...node.path, name] };
    if (!idForm.pattern.test(name)) malformed(at, `is named ${formatValue(name)}`, idForm.hint);
    return { name, steps: list(at, "branch", stepCount) };
  });
}
