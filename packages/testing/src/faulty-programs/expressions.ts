import { type FaultyProgram, faulty } from "./faulty-program.ts";

/**
 * Programs with faults in expressions (such as the condition `row.summary == "x"` of a step). For example, an expression cannot be parsed
 * or uses an unknown name.
 */
export const faultyExpressions: readonly FaultyProgram[] = [
  faulty(
    "expressions that do not parse",
    {
      "steps/1/where": "row.summary ==",
      "steps/2/if": "",
      "steps/3/when": "(".repeat(600),
      "points/sure/question": "{",
    },
    [
      "EXPRESSION_INVALID /steps/1/where",
      "MALFORMED /steps/2/if",
      "EXPRESSION_INVALID /steps/3/when",
      "REFERENCE_INVALID /points/sure/question",
    ],
  ),
  faulty(
    "expressions of unknown names and functions",
    {
      "steps/1/where": "row.nope && lower(row.id) == 'a'",
      "steps/2/if": "rows.nope > 1 || secret == 1",
      "steps/3/when": "steps.plan.x == 1 || params.none",
    },
    [
      "REFERENCE_INVALID /steps/1/where",
      "EXPRESSION_INVALID /steps/1/where",
      "REFERENCE_INVALID /steps/2/if",
      "EXPRESSION_INVALID /steps/2/if",
      "REFERENCE_INVALID /steps/3/when",
      "REFERENCE_INVALID /steps/3/when",
    ],
  ),
  faulty(
    "expressions of the wrong type",
    {
      "steps/1/where": "row.summary",
      "steps/2/if": "params.least + 1 > 2",
      "steps/3/when": "size(rows.named) > 1 && 'a' > 1",
    },
    [
      "EXPRESSION_INVALID /steps/1/where",
      "EXPRESSION_INVALID /steps/2/if",
      "EXPRESSION_INVALID /steps/3/when",
      "EXPRESSION_INVALID /steps/3/when",
    ],
  ),
  faulty(
    "expressions above their limits",
    {
      "steps/1/where": `${"row.id == 'a' || ".repeat(60)}false`,
      "steps/2/if": `${"size([".repeat(30)}1${"])".repeat(30)} == 1`,
      "steps/3/when": `'${"x".repeat(1100)}' == ''`,
    },
    ["EXPRESSION_INVALID /steps/1/where", "EXPRESSION_INVALID /steps/2/if", "EXPRESSION_INVALID /steps/3/when"],
  ),
  faulty(
    "comprehensions where none may be",
    {
      "steps/1/where": "row.start.all(x, row.start.exists(y, y == x))",
      "steps/2/if": "rows.all(r, rows[r] > 1)",
      "steps/3/when": "input.tags.exists(t, t.x == 'a')",
    },
    [
      "EXPRESSION_INVALID /steps/1/where",
      "EXPRESSION_INVALID /steps/2/if",
      "EXPRESSION_INVALID /steps/2/if",
      "REFERENCE_INVALID /steps/3/when",
    ],
  ),
  faulty(
    "expressions of rows, skipped steps and patterns from data",
    {
      "steps/2/if": "row.id == ''",
      "steps/3/when": "steps.me.id > 0.0",
      "steps/1/where": "row.summary.matches(row.id) || row.id.matches('(?=a)') || row.id.matches('a{100}')",
    },
    [
      "EXPRESSION_INVALID /steps/1/where",
      "EXPRESSION_INVALID /steps/1/where",
      "EXPRESSION_INVALID /steps/1/where",
      "REFERENCE_INVALID /steps/2/if",
      "REFERENCE_INVALID /steps/3/when",
    ],
  ),
];
