import { checkExpression } from "../check/expression.ts";
import { pointerOf } from "../json.ts";
import { type Bounds, beyondDeadline, durationBounds } from "../limits.ts";
import { readExpression } from "../read/expression.ts";
import { durationSchema, numberSchema, type ObjectForm, ref, wholeSchema } from "../read/form.ts";
import type { Expression } from "../template.ts";
import { nothing } from "../types/scope.ts";
import type { AnyStep, StepLanguage } from "./language.ts";
import { quotedRule } from "./parts/title.ts";
import { type Use, upTo } from "./use.ts";

/** Step kind `until`: repeats steps (of type `Inner`) until a condition is true. The job pauses after each round except the last. */
export type UntilStepOf<Inner extends AnyStep> = AnyStep & {
  readonly kind: "until";
  readonly condition: Expression;
  readonly body: readonly Inner[];
  /** Maximum number of rounds (repetitions of the steps). */
  readonly max: number;
  /** Pauses between rounds: `everyMs` is the first pause, each later pause is `factor` times the one before, and `capMs` is the longest. */
  readonly pause: { readonly everyMs: number; readonly factor: number; readonly capMs: number };
};

const bounds = { max: { min: 1, max: 1_000 }, factor: { min: 1, max: 10 } } as const satisfies Record<string, Bounds>;
const defaultPause = { everyMs: 30_000, factor: 1, capMs: 3_600_000 };
const stepCount = { min: 1, max: Number.MAX_SAFE_INTEGER };

const form: ObjectForm = {
  description:
    "Runs its steps until the expression is true, with a pause after each round in which it is false. After max rounds it fails with UNTIL_EXHAUSTED.",
  required: {
    until: ref("expression"),
    do: ref("branch"),
    max: wholeSchema(
      "Maximum rounds, 1 to 1,000. The estimate counts the use of the steps once for each of them.",
      bounds.max,
      20,
    ),
  },
  optional: {
    every: durationSchema("Pause after the first round, 1s to 30d. Default 30s.", "30s"),
    factor: numberSchema("Factor by which each later pause grows, 1 to 10. Default 1.", bounds.factor, 2),
    cap: durationSchema("Longest pause, 1s to 30d. Default 1h, or every if that is longer.", "1h"),
  },
  examples: [
    {
      id: "ready",
      until: "steps.status.state == 'done'",
      do: [{ id: "status", call: "warehouse.get_export", entity: "ops", args: { export_id: "e1" } }],
      every: "30s",
      factor: 2,
      max: 20,
    },
  ],
};

/**
 * Returns the definition of the step kind `until`: its fields, and how svc reads and checks such a step and estimates its calls, rows and
 * questions. `Inner`: the type of the repeated steps.
 */
export function untilLanguage<Inner extends AnyStep>(): StepLanguage<UntilStepOf<Inner>, Inner> {
  return {
    form,
    formInMap: undefined,
    refusedInItself: {
      message: "is an until inside another",
      hint: "wait for one after the other: write both untils in one list",
    },
    takesOnError: true,
    definitions: {},
    named: { value: undefined, set: undefined, row: undefined },

    read(base, fields, { reader, limits, list }) {
      const condition = readExpression(fields.at("until"), reader) ?? { source: "true", pointer: base.pointer };
      const body = list(fields.at("do"), "branch", stepCount);
      const every = fields.at("every");
      const everyMs = reader.duration(every, durationBounds.wait) ?? defaultPause.everyMs;
      if (everyMs > limits.deadlineMs) {
        const [message, hint] = beyondDeadline(everyMs, limits.deadlineMs);
        reader.faults.add("PROGRAM_LIMIT_INVALID", every.path, message, hint);
      }
      const factor = reader.number(fields.at("factor"), { ...bounds.factor, isWhole: false }) ?? defaultPause.factor;
      const cap = reader.duration(fields.at("cap"), durationBounds.wait);
      const capMs = cap ?? Math.max(everyMs, defaultPause.capMs);
      if (capMs < everyMs) {
        reader.faults.add("PROGRAM_LIMIT_INVALID", fields.at("cap").path, "is shorter than every", "raise it to every");
      }
      if (cap !== undefined && factor === 1 && !reader.faults.has(pointerOf(fields.at("factor").path))) {
        const message = "has no effect, because factor is 1 and every pause is as long as the first";
        reader.faults.addYounger(
          "PROGRAM_MALFORMED",
          fields.at("cap").path,
          message,
          'add "factor": 2, or leave cap out',
        );
      }
      const max = reader.number(fields.at("max"), bounds.max) ?? bounds.max.min;
      return { kind: "until", ...base, condition, body, max, pause: { everyMs, factor, capMs } };
    },

    check({ condition, body }, { scope, check, list }) {
      const left = list(body, scope);
      // The condition is evaluated after each round, so it can use the results of all steps of the round.
      checkExpression(condition, { ...scope, ended: new Map([...scope.ended, ...left]) }, check.faults);
      return { own: nothing, inner: [...left] };
    },

    title: ({ condition }) => `Repeat until ${quotedRule(condition.source)}`,
    lists: ({ body }) => [body],
    calls: () => [],
    asks: () => [],
    estimate: ({ body, max }, { list }) => repeatedUse(max, list(body)),
  };
}

/**
 * Returns the use (calls, rows, questions) of a list of steps that runs at least once and at most `times` times. `once`: the use of one
 * run.
 */
function repeatedUse(times: number, once: Use): Use {
  return { ...upTo(times, once), callsMin: once.callsMin, asksMin: once.asksMin };
}
