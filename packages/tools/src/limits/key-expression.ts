import { type CelInput, celEnv, parse, plan } from "@bufbuild/cel";
import type { Expr } from "@bufbuild/cel-spec/cel/expr/syntax_pb.js";

/** Variables that a limit's key expression can use. */
export type KeyBindings = {
  readonly toolSlug: string;
  readonly entityId: string;
  readonly accountId: string;
  readonly accessClass: string;
};

/** Function that returns the key under which a call is counted, or undefined if the limit does not apply to the call. */
export type KeyOf = (bindings: KeyBindings) => string | undefined;

const charactersMax = 500;
const nodesMax = 50;

const env = celEnv();
/**
 * Functions that a key expression may use. Their time depends only on the length of the texts. Patterns and functions on lists are not
 * allowed, because they could take much longer.
 */
const functions = new Set(
  "_==_ _!=_ _&&_ _||_ !_ _?_:_ _+_ _<_ _<=_ _>_ _>=_ @in _in_ startsWith endsWith contains size string".split(" "),
);
const sample: KeyBindings = {
  toolSlug: "calendar.list_events",
  entityId: "ada",
  accountId: "acc_00000000000000000000000000",
  accessClass: "read",
};

/**
 * Compiles the expression that decides which calls a call limit counts together. Calls for which it has the same value (a text, number or
 * boolean) share one counter; null means that the limit does not apply. Without an expression, all calls share one counter. Returns
 * `keyOf`, or `fault` if the expression is wrong. An evaluation takes microseconds, because an expression has no loops, no patterns and at
 * most 50 parts.
 */
export function compileKeyExpression(source: string): { readonly keyOf: KeyOf } | { readonly fault: string } {
  if (source === "") return { keyOf: () => "" };
  if (source.length > charactersMax)
    return { fault: `has ${source.length} characters; at most ${charactersMax} are allowed` };
  let tree: Expr;
  try {
    tree = parse(source).expr;
  } catch (error) {
    return { fault: error instanceof Error ? error.message.replace("<input>:", "") : "does not parse" };
  }
  const fault = faultOf(tree);
  if (fault !== undefined) return { fault };
  const evaluate = plan(env, tree);
  const tried = keyFrom(evaluate(sample as Readonly<Record<string, CelInput>>));
  if (tried === failed) return { fault: "cannot be evaluated, or is not a text, number, truth value or null" };
  return {
    keyOf(bindings) {
      const key = keyFrom(evaluate(bindings as Readonly<Record<string, CelInput>>));
      // If the expression fails for a call, the limit still applies to the call. All such calls are counted together under the empty key.
      return key === failed ? "" : key;
    },
  };
}

const failed = Symbol("failed");

function keyFrom(value: unknown): string | undefined | typeof failed {
  if (value === null) return undefined;
  if (typeof value === "string") return value;
  if (["number", "bigint", "boolean"].includes(typeof value)) return String(value);
  return failed;
}

function faultOf(tree: Expr): string | undefined {
  const nodes = [tree];
  for (const node of nodes) {
    const { exprKind } = node;
    switch (exprKind.case) {
      case "constExpr":
        break;
      case "identExpr":
        if (!Object.hasOwn(sample, exprKind.value.name)) {
          return `names ${exprKind.value.name}; there are ${Object.keys(sample).join(", ")}`;
        }
        break;
      case "listExpr":
        nodes.push(...exprKind.value.elements);
        break;
      case "callExpr": {
        const { function: name, target, args } = exprKind.value;
        if (!functions.has(name)) return `uses ${name}, which a limiter key cannot use`;
        nodes.push(...(target === undefined ? [] : [target]), ...args);
        break;
      }
      default:
        return "contains a part that a limiter key cannot have";
    }
    if (nodes.length > nodesMax) return `has more than ${nodesMax} parts`;
  }
  return undefined;
}
