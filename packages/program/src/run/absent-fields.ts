import { type CelEnv, type CelValue, isCelError, plan } from "@bufbuild/cel";
import type { Expr } from "@bufbuild/cel-spec/cel/expr/syntax_pb.js";
import { childrenOf, type NodePath, pathOfNode } from "../read/cel-tree.ts";
import type { CelValues } from "./cel-values.ts";

/** Fields that are named, at most. */
const namedMax = 3;

/**
 * Tells which of the fields that an expression names are absent, by the names that it has for them; nothing of any value. Empty where
 * that cannot be told.
 */
export function absentFieldsOf(env: CelEnv, tree: Expr): (values: CelValues) => string {
  let chains: readonly (readonly Field[])[] | undefined;
  return (values) => {
    chains ??= chainsOf(env, tree);
    const absent = chains.flatMap((chain) => chain.find(({ read }) => isCelError(read(values)))?.text ?? []);
    const named = [...new Set(absent)].slice(0, namedMax);
    const [first] = named;
    if (first === undefined) return "";
    const ask = /^[\w.]+\.[A-Za-z_]\w*$/.test(first) ? `; ask has(${first}) first` : "";
    return `: ${named.join(", ")}${ask}`;
  };
}

/** Tells which of the values that an expression names are null, by the names that it has for them. Empty where none is. */
export function nullFieldsOf(env: CelEnv, tree: Expr): (values: CelValues) => string {
  let chains: readonly (readonly Field[])[] | undefined;
  return (values) => {
    chains ??= chainsOf(env, tree);
    const nulls = chains.flatMap((chain) => {
      const last = chain.at(-1);
      return last !== undefined && last.read(values) === null ? [last.text] : [];
    });
    const named = [...new Set(nulls)].slice(0, namedMax);
    return named.length === 0 ? "" : `; null here: ${named.join(", ")}`;
  };
}

/** A part of a chain of names, as it is written and as it is read. */
type Field = { readonly text: string; readonly read: (values: CelValues) => CelValue | Error };

/** Every chain of names in a tree, each from its root outwards. Items of lists that are walked through have no name outside. */
function chainsOf(env: CelEnv, tree: Expr, locals: ReadonlySet<string> = new Set()): readonly (readonly Field[])[] {
  const path = pathOfNode(tree);
  if (path !== undefined) {
    if (path.isTest || locals.has(path.root)) return [];
    return [partsOf(tree).map((node) => ({ text: textOf(pathOfNode(node)), read: plan(env, node) }))];
  }
  const { exprKind } = tree;
  const own = exprKind.case === "comprehensionExpr" ? [exprKind.value.iterVar, exprKind.value.accuVar] : [];
  const within = own.length === 0 ? locals : new Set([...locals, ...own]);
  return childrenOf(tree).flatMap((child) => chainsOf(env, child, within));
}

/** The nodes of a chain, its root first. */
function partsOf(node: Expr): Expr[] {
  const [operand] = childrenOf(node);
  return operand === undefined ? [node] : [...partsOf(operand), node];
}

function textOf(path: NodePath | undefined): string {
  if (path === undefined) return "";
  return path.path.reduce<string>((text, step) => {
    if (typeof step === "number") return `${text}[${step}]`;
    return /^[A-Za-z_]\w*$/.test(step) ? `${text}.${step}` : `${text}[${JSON.stringify(step)}]`;
  }, path.root);
}
