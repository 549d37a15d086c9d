import type { Expr } from "@bufbuild/cel-spec/cel/expr/syntax_pb.js";
import {
  holdsSensitivePlace,
  isSensitiveAt,
  isSensitivePlace,
  type JsonSchema,
  marksSensitive,
  placeAlong,
  placeAt,
  type SchemaPlace,
  schemaPlace,
} from "@svc/catalog";
import { call, isObject, text } from "@svc/core";
import type { Path } from "../json.ts";
import { parseExpression } from "../read/cel-calls.ts";
import { childrenOf, type NodePath, pathOfNode } from "../read/cel-tree.ts";
import { referenceRoots } from "../read/reference.ts";
import { type Expression, entriesOf, type Reference, type ReferenceRoot, type ValueTemplate } from "../template.ts";
import type { Scope } from "../types/scope.ts";
import type { Check } from "./context.ts";

/** The arguments of one call with the schema of their tool, and their path in the program. */
export type SensitiveArguments = {
  readonly args: ValueTemplate;
  readonly inputSchema: JsonSchema;
  readonly path: Path;
};

const useInput = text`use a secret of the project: {"$secret": "<name>"}, with "prefix": "Bearer " if needed, stored with ${call("PutSecret")}; or an input marked x-sensitive: {"$ref": "input.<name>"}, with "x-sensitive": true at its property of inputSchema`;

/**
 * Checks that the value of a sensitive argument cannot be read in the program, because the jobs of a program show the program. The value
 * may not be a literal, a param, or an input field that is not marked as sensitive. The answer of a step is allowed, because answers are
 * stored encrypted. Records every fault.
 */
export function checkSensitiveArguments(
  { args, inputSchema, path }: SensitiveArguments,
  { input }: Pick<Scope, "input">,
  { faults, isStored }: Check,
): void {
  if (isStored || !marksSensitive(inputSchema)) return;
  const report = (at: Path, why: string) => {
    faults.add("PROGRAM_SENSITIVE_LITERAL", at, `${why}, but the argument is sensitive`, useInput);
  };
  walk({ input, report }, args, schemaPlace(inputSchema), path);
}

type Walk = { readonly input: JsonSchema | undefined; report(at: Path, why: string): void };

function walk(context: Walk, template: ValueTemplate, place: SchemaPlace, path: Path): void {
  if (!holdsSensitivePlace(place)) return;
  const isSensitive = isSensitivePlace(place);
  switch (template.kind) {
    case "reference":
      checkSource(context, template.reference, place, path);
      walkElse(context, template, place, path);
      return;
    case "secret":
      return;
    case "text":
      if (isSensitive) checkText(context, template.parts, place, path);
      walkElse(context, template, place, path);
      return;
    case "computed":
      checkComputedText(context, template.expression, place, path);
      return;
    case "list":
      template.items.forEach((item, index) => {
        walk(context, item, isSensitive ? place : placeAt(place, index), [...path, index]);
      });
      return;
    case "object":
      walkEntries(context, template, place, path);
      return;
    case "literal":
      // A null is allowed, because it reveals nothing.
      if (isSensitive && template.value !== null) context.report(path, "is written in the program");
      else if (Array.isArray(template.value)) {
        const items = template.value.map((value) => ({ kind: "literal", value }) as const);
        walk(context, { kind: "list", items }, place, path);
      } else walkEntries(context, template, place, path);
  }
}

/**
 * Checks that a sensitive argument has no replacement value (`else`) in the program, because everyone who can read the program could read
 * it. Records a fault if there is one.
 */
function walkElse(
  context: Walk,
  { otherwise }: ValueTemplate & { readonly kind: "reference" | "text" },
  place: SchemaPlace,
  path: Path,
): void {
  if (otherwise !== undefined) walk(context, { kind: "literal", value: otherwise.value }, place, [...path, "else"]);
}

function walkEntries(context: Walk, template: ValueTemplate, place: SchemaPlace, path: Path): void {
  const isSensitive = isSensitivePlace(place);
  for (const [name, item] of entriesOf(template) ?? []) {
    walk(context, item, isSensitive ? place : placeAt(place, name), [...path, name]);
  }
}

/**
 * Checks a text in a sensitive argument. Records a fault if the text is completely constant, because everyone who sees a job can read its
 * program. Otherwise checks each reference in the text.
 */
function checkText(context: Walk, parts: readonly (string | Reference)[], place: SchemaPlace, path: Path): void {
  const references = parts.filter((part) => typeof part !== "string");
  if (references.length === 0) context.report(path, "is written in the program");
  for (const reference of references) checkSource(context, reference, place, path);
}

/**
 * Checks an expression that computes the value of a sensitive argument. Records a fault if the expression uses only constants, because
 * everyone who can read the program would know the value. Otherwise checks each value that the expression uses.
 */
function checkComputedText(context: Walk, { source }: Expression, place: SchemaPlace, path: Path): void {
  const named = pathsNamed(source);
  if (named.length === 0) context.report(path, "is written in the program");
  for (const { root, path: steps } of named) {
    const text = [root, ...steps].join(".");
    checkSource(context, { root: root as ReferenceRoot, path: steps, text, pointer: "" }, place, path);
  }
}

/** Returns the paths that an expression reads, such as `row.amount`. Paths of loop variables are left out. */
export function pathsNamed(source: string): readonly NodePath[] {
  const parsed = parseExpression(source);
  return "fault" in parsed ? [] : pathsOf(parsed.tree).filter(({ root }) => referenceRoots.has(root));
}

function pathsOf(node: Expr): readonly NodePath[] {
  const path = pathOfNode(node);
  return path === undefined ? childrenOf(node).flatMap(pathsOf) : [path];
}

function checkSource({ input, report }: Walk, { root, path: steps, text }: Reference, to: SchemaPlace, at: Path): void {
  if (root === "params") report(at, `${text} is one of the program's constants`);
  if (root !== "input" || text === "" || input === undefined) return;
  const isWhole = isSensitiveAt(input, steps);
  const isMarked = isWhole || (!isSensitivePlace(to) && holdsSensitivePlace(placeAlong(input, steps)));
  if (!isMarked) report(at, `${text} is not marked x-sensitive in inputSchema`);
}

/** Keywords of a JSON Schema that contain values. In the schema of a sensitive field they would reveal possible values. */
const valueKeywords = ["default", "const", "enum", "examples"];

/** Checks that a schema in the program does not contain values for fields that it marks as sensitive. Records every fault. */
export function checkSensitiveSchema(schema: JsonSchema, path: Path, check: Check): void {
  if (!check.isStored && marksSensitive(schema)) walkSchema(schema, path, { check, isSensitive: false });
}

function walkSchema(
  part: unknown,
  path: Path,
  { check, isSensitive }: { readonly check: Check; readonly isSensitive: boolean },
): void {
  if (!isObject(part)) return;
  const isMarked = isSensitive || part["x-sensitive"] === true;
  for (const keyword of isMarked ? valueKeywords : []) {
    if (part[keyword] === undefined) continue;
    const hint = "leave it out: everyone who can read the program can read this value";
    check.faults.add(
      "PROGRAM_SENSITIVE_LITERAL",
      [...path, keyword],
      `is a value of a field that is marked x-sensitive`,
      hint,
    );
  }
  const below = (child: unknown, ...steps: (string | number)[]) =>
    walkSchema(child, [...path, ...steps], { check, isSensitive: isMarked });
  below(part.items, "items");
  if (isObject(part.properties)) {
    for (const [name, child] of Object.entries(part.properties)) below(child, "properties", name);
  }
  for (const keyword of ["anyOf", "oneOf", "allOf"]) {
    const list = part[keyword];
    if (Array.isArray(list)) for (const [index, child] of list.entries()) below(child, keyword, index);
  }
}
