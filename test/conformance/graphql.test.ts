import { type Action, fillInput, type JsonSchema, renderRequest } from "@svc/catalog";
import type { TemplateTree } from "@svc/core";
import fc from "fast-check";
import {
  type FieldNode,
  Kind,
  type OperationDefinitionNode,
  parse,
  type SelectionSetNode,
  type VariableDefinitionNode,
} from "graphql";
import { expect, test } from "vitest";
import { drawArguments } from "./arguments.ts";
import { actions } from "./definitions.ts";

const graphqlToolkits = ["issue_tracker", "work_mgmt"];
const graphqlActions = actions
  .filter(({ toolkitSlug }) => graphqlToolkits.includes(toolkitSlug))
  .map((action) => [action.slug, action] as const);

/** Returns the value that a template tree has at a key: another tree, or a part of a constant. */
function partOf(tree: TemplateTree | undefined, key: string): TemplateTree | undefined {
  if (tree?.kind === "object") return tree.entries.find(([name]) => name === key)?.[1];
  if (tree?.kind !== "constant") return undefined;
  const value = (tree.value as Record<string, unknown>)[key];
  return value === undefined ? undefined : { kind: "constant", value };
}

function keysOf(tree: TemplateTree | undefined): string[] {
  if (tree?.kind === "object") return tree.entries.map(([name]) => name);
  return tree?.kind === "constant" ? Object.keys(tree.value as object) : [];
}

function documentOf(action: Action): string {
  const query = partOf(action.request.body, "query");
  if (query?.kind !== "constant" || typeof query.value !== "string") throw new Error("body.query is not a fixed text");
  return query.value;
}

/** Returns the one GraphQL operation in a tool's document. Throws if the document does not parse or has another number of operations. */
function operationOf(action: Action): OperationDefinitionNode {
  const { definitions } = parse(documentOf(action));
  const [operation] = definitions;
  if (definitions.length !== 1 || operation?.kind !== Kind.OPERATION_DEFINITION) {
    throw new Error(`${action.slug} has ${definitions.length} definitions in its document, not one operation`);
  }
  return operation;
}

test("the two toolkits have 70 tools, and each of them posts a document", () => {
  expect(graphqlActions).toHaveLength(70);
  for (const [slug, { request }] of graphqlActions) {
    expect(request.method, slug).toBe("POST");
    expect(
      keysOf(request.body).filter((key) => key !== "variables" && key !== "operationName"),
      slug,
    ).toEqual(["query"]);
  }
});

test.each(graphqlActions)("%s has one operation of the kind that its class says", (_slug, action) => {
  expect(operationOf(action).operation).toBe(action.class === "read" ? "query" : "mutation");
});

const nameOf = ({ variable }: VariableDefinitionNode) => variable.name.value;

test.each(graphqlActions)("%s declares the variables that its body carries, and uses each", (_slug, action) => {
  const declared = (operationOf(action).variableDefinitions ?? []).map(nameOf);
  expect(keysOf(partOf(action.request.body, "variables")).toSorted()).toEqual(declared.toSorted());
  const used = new Set(
    documentOf(action)
      .match(/\$\w+/g)
      ?.filter((name, index, all) => all.indexOf(name) !== index),
  );
  expect([...used].toSorted()).toEqual(declared.map((name) => `$${name}`).toSorted());
});

test.each(graphqlActions)("%s carries every variable that must not be null, whatever is given", (_slug, action) => {
  const definitions = operationOf(action).variableDefinitions ?? [];
  const needed = definitions.filter(({ type, defaultValue }) => type.kind === Kind.NON_NULL_TYPE && !defaultValue);
  const property = fc.property(fc.constantFrom("none" as const, "some" as const), fc.gen(), (optionals, draw) => {
    const given = drawArguments(action.inputSchema, { draw, optionals, useOf: () => "any" });
    fc.pre(action.validateInput(given).length === 0);
    const params = fillInput(action.inputSchema, given) as Record<string, unknown>;
    const { body } = renderRequest({ always: nothing }, action, { params, account: {} });
    for (const definition of needed) expect(body).toHaveProperty(["variables", nameOf(definition)]);
  });
  fc.assert(property, { numRuns: 5 });
});

const none = { kind: "constant", value: {} } as const;
const nothing = { headers: none, query: none, body: none };

/** Tools whose GraphQL operation selects no fields of its answer, with the reason. */
const scalarAnswers: Readonly<Record<string, string>> = {
  "work_mgmt.rename_board": "the app answers JSON text, which has no selection; the specification names a field id",
};

test.each(graphqlActions.filter(([slug]) => scalarAnswers[slug] === undefined))(
  "%s selects every field that its output keeps",
  (_slug, action) => {
    const steps = action.response.unwrap.split(".").filter((step) => step !== "data" && step !== "");
    let selection: SelectionSetNode | undefined = operationOf(action).selectionSet;
    for (const step of steps) selection = fieldsOf(selection).get(step.replace(/\[\d+\]$/, ""))?.selectionSet;
    expect(action.response.unwrap).toMatch(/^data\b/);
    expect(missingFields(action.outputSchema, selection, "")).toEqual([]);
  },
);

/** Maps the selected fields by the name they have in an answer. The fields of a fragment on one type count like the others. */
function fieldsOf(selection: SelectionSetNode | undefined): Map<string, FieldNode> {
  const fields = new Map<string, FieldNode>();
  for (const node of selection?.selections ?? []) {
    if (node.kind === Kind.FIELD) fields.set((node.alias ?? node.name).value, node);
    if (node.kind === Kind.INLINE_FRAGMENT)
      for (const [name, field] of fieldsOf(node.selectionSet)) fields.set(name, field);
  }
  return fields;
}

function missingFields(schema: JsonSchema, selection: SelectionSetNode | undefined, path: string): string[] {
  const { properties, items } = schema as {
    readonly properties?: Record<string, JsonSchema>;
    readonly items?: JsonSchema;
  };
  if (items !== undefined) return missingFields(items, selection, `${path}[]`);
  const fields = fieldsOf(selection);
  return Object.entries(properties ?? {}).flatMap(([name, child]) => {
    const field = fields.get(name);
    if (field === undefined) return [`${path}.${name}`];
    return missingFields(child, field.selectionSet, `${path}.${name}`);
  });
}
