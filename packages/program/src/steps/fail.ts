import { checkTexts } from "../check/references.ts";
import { pathOf } from "../json.ts";
import { readText } from "../read/value.ts";
import { referencesOf, type TextTemplate } from "../template.ts";
import { nothing, resolveType } from "../types/scope.ts";
import type { AnyStep, StepLanguage } from "./language.ts";
import { quoted } from "./parts/title.ts";
import { noUse } from "./use.ts";

/**
 * Step kind `fail`: ends the job as failed, with a text. `pauses`: true if the step pauses the standing program (schedule) that started the
 * job, with the text as the reason.
 */
export type FailStep = AnyStep & { readonly kind: "fail"; readonly text: TextTemplate; readonly pauses: boolean };

const textMax = 500;

/** Definition of the step kind `fail`: its fields, and how svc reads and checks such a step and estimates its calls, rows and questions. */
export const failLanguage: StepLanguage<FailStep> = {
  form: {
    description:
      "Ends the job as failed, with a text as its error (FAIL_STEP). when gives the condition. An onError handles it only if its codes name FAIL_STEP.",
    required: {
      fail: {
        description: "Why the job fails, for people: 1 to 500 characters; {path} takes a value, {{ is a brace.",
        type: "string",
        minLength: 1,
        maxLength: textMax,
        examples: ["Only {rows.deals} deals were read"],
      },
    },
    optional: {
      pause: {
        description:
          "If true, pauses the standing program that started the job, with the text as the reason. Default false.",
        type: "boolean",
        examples: [true],
      },
    },
    examples: [{ id: "enough", fail: "Only {rows.deals} deals were read", when: "rows.deals < 10" }],
  },
  formInMap: undefined,
  refusedInItself: undefined,
  definitions: {},
  named: { value: undefined, set: undefined, row: undefined },

  read(base, fields, { reader }) {
    const node = fields.at("fail");
    const hint = 'write why the job fails, such as "Only {rows.deals} deals were read"; when takes the condition';
    const source = reader.text(node, { max: textMax, hint });
    const text = source === undefined ? undefined : readText(source, node.path, reader.faults);
    const pauses = (fields.has("pause") && reader.flag(fields.at("pause"))) || false;
    return text && { kind: "fail", ...base, text, pauses };
  },

  check({ text, pointer }, { scope, check: { faults } }) {
    const path = [...pathOf(pointer), "fail"];
    checkTexts(text, path, scope, faults);
    for (const { reference } of referencesOf(text)) {
      const found = resolveType(scope, reference);
      if ("fault" in found)
        faults.add("PROGRAM_REFERENCE_INVALID", path, `${reference.text}: ${found.fault}`, found.hint);
    }
    return { own: nothing, inner: [] };
  },

  title: ({ text }) =>
    `Fail: ${quoted(text.parts.map((part) => (typeof part === "string" ? part : `{${part.text}}`)).join(""))}`,
  lists: () => [],
  calls: () => [],
  asks: () => [],
  estimate: () => noUse,
};
