import type { Action, JsonSchema } from "@svc/catalog";
import { formatValue } from "@svc/core";
import type { Check } from "./check-context.ts";
import { checkReferences } from "./check-references.ts";
import { entriesOf, examine, withDefaults } from "./examine.ts";
import { pathOf } from "./faults.ts";
import type { CallStep, Path, UndoCall, ValueTemplate } from "./program.ts";
import { brokenTemplate } from "./reference.ts";
import { fieldType, namesOf, typesOf, type ValueType } from "./schema-type.ts";
import { type RowSet, resolveType, type Scope } from "./scope.ts";
import { isObject } from "./shape.ts";

/** What a call leaves behind: the type of its answer and, where it makes rows, its set. */
export type CheckedCall = { readonly output: ValueType; readonly set: RowSet | "any" | undefined };

/** Checks a call where it stands: tool, account, arguments, rows and undo. Records every fault. */
export function checkCall(call: CallStep, scope: Scope, check: Check): CheckedCall {
  const path = pathOf(call.pointer);
  const action = findAction(call.tool, [...path, "call"], check);
  checkArguments({ call, action, path, given: call.rows?.page && [call.rows.page.arg] }, scope, check);
  const output = action?.outputSchema;
  if (call.undo !== undefined) checkUndo(call, call.undo, scope, output, check);
  const set = call.rows === undefined ? undefined : checkRows(call, path, action, check);
  return { output, set };
}

function checkUndo(
  { id, tool, entity }: CallStep,
  undo: UndoCall,
  scope: Scope,
  output: ValueType,
  check: Check,
): void {
  const path = pathOf(undo.pointer);
  const action = findAction(undo.tool, [...path, "call"], check);
  const calls = scope.calls && new Map([...scope.calls, [id, output] as const]);
  // The account of the call itself is asked for there.
  const isAsked = undo.entity === entity && action?.toolkitSlug === check.actions.get(tool)?.toolkitSlug;
  checkArguments({ call: undo, action, path, isAsked }, { ...scope, calls, output: { type: output } }, check);
}

/** Finds the tool of a call; undefined when it cannot be called, which is recorded. */
function findAction(slug: string, path: Path, check: Check): Action | undefined {
  const { faults, view, actions } = check;
  const known = actions.get(slug);
  if (known !== undefined) return known;
  const tool = view.tools.get(slug);
  if (slug.startsWith("skills.")) {
    faults.add("PROGRAM_TOOL_NOT_CALLABLE", path, `${slug} is a skill`, "write the steps of its program here instead");
  } else if (tool === undefined) {
    const hint = view.toolkits.has(slug.split(".")[0] ?? "")
      ? "ListTools of its toolkit names what there is"
      : "search_tools finds tools by what they do";
    faults.add("PROGRAM_TOOL_UNKNOWN", path, `there is no tool ${formatValue(slug)}`, hint);
  } else if (tool.kind !== "action") {
    faults.add("PROGRAM_TOOL_NOT_CALLABLE", path, `${slug} is a trigger`, "call an action; triggers send events");
  } else if (!tool.callable) {
    faults.add("PROGRAM_TOOL_NOT_CALLABLE", path, `${slug} is described only`, "call another tool of its toolkit");
  } else {
    actions.set(slug, tool);
    return tool;
  }
  return undefined;
}

type Arguments = {
  readonly call: { readonly entity: string; readonly args: ValueTemplate };
  readonly action: Action | undefined;
  readonly path: Path;
  /** Arguments that the engine gives when they are absent. */
  readonly given?: readonly string[] | undefined;
  /** Whether its account is asked for elsewhere. */
  readonly isAsked?: boolean;
};

function checkArguments(
  { call, action, path, given = [], isAsked = false }: Arguments,
  scope: Scope,
  check: Check,
): void {
  const argsPath = [...path, "args"];
  checkReferences(call.args, argsPath, scope, check.faults);
  if (action === undefined) return;
  const toolkit = check.view.toolkits.get(action.toolkitSlug);
  if (toolkit !== undefined && call.entity !== "" && !isAsked) {
    check.accounts.push({ path: [...path, "entity"], question: { toolkit, entity: call.entity } });
  }
  const args = action.class === "destructive" ? checkConfirm(call.args, action, argsPath, check) : call.args;
  const engineGiven = [...given, ...(action.idempotency?.argument === undefined ? [] : [action.idempotency.argument])];
  const filled = withDefaults(withGiven(args, engineGiven, action.inputSchema), action.inputSchema);
  const { faults } = examine(filled, action.inputSchema, {
    typeOf({ reference }) {
      const found = resolveType(scope, reference);
      return "fault" in found ? undefined : found.type;
    },
    validator: (schema) => check.validator(action, schema),
  });
  for (const { path: at, message } of faults) {
    const [name] = at;
    const isDefault = name !== undefined && !entriesOf(call.args)?.some(([entry]) => entry === name);
    const text = isDefault ? `${name}, left at its default, ${message}` : message;
    check.faults.add("PROGRAM_ARGUMENT_INVALID", [...argsPath, ...at], text, hintOf(action, at));
  }
}

/** The destructive call's release stands in the program as it is: nothing that runs may decide it. Answers the other arguments. */
function checkConfirm(args: ValueTemplate, action: Action, path: Path, check: Check): ValueTemplate {
  const entries = entriesOf(args) ?? [];
  const confirm = entries.find(([name]) => name === "confirm")?.[1];
  if (confirm?.kind !== "literal" || confirm.value !== true) {
    const message = confirm === undefined ? "lacks confirm" : "has a confirm that is not the literal true";
    const at = confirm === undefined ? path : [...path, "confirm"];
    check.faults.add(
      "PROGRAM_CONFIRM_MISSING",
      at,
      `${action.slug} is destructive and ${message}`,
      'write "confirm": true',
    );
  }
  return { kind: "object", entries: entries.filter(([name]) => name !== "confirm") };
}

/** Unknown values for arguments that the engine fills in, so that they do not count as missing. */
function withGiven(args: ValueTemplate, names: readonly string[], { required }: JsonSchema): ValueTemplate {
  const entries = entriesOf(args) ?? [];
  const missing = names.filter((name) => {
    return Array.isArray(required) && required.includes(name) && !entries.some(([entry]) => entry === name);
  });
  if (missing.length === 0 && args.kind === "object" && entries.every(([, item]) => item.kind === "literal")) {
    return {
      kind: "literal",
      value: Object.fromEntries(entries.map(([name, item]) => [name, item.kind === "literal" ? item.value : null])),
    };
  }
  if (missing.length === 0) return args;
  return { kind: "object", entries: [...entries, ...missing.map((name) => [name, brokenTemplate] as const)] };
}

function hintOf(action: Action, path: Path): string {
  let schema: unknown = action.inputSchema;
  for (const step of path) {
    const field = isObject(schema)
      ? fieldType(schema, /^\d+$/.test(String(step)) ? Number(step) : step)
      : { fault: "" };
    schema = "type" in field ? field.type : undefined;
    if ("fault" in field) break;
  }
  if (path.length > 0 && isObject(schema) && typeof schema.description === "string") {
    return schema.description.replaceAll(/\s+/g, " ").slice(0, 300);
  }
  return `${action.slug} takes ${namesOf(action.inputSchema).join(", ") || "no arguments"}`;
}

function checkRows(call: CallStep, path: Path, action: Action | undefined, check: Check): RowSet | "any" {
  const { rows } = call;
  if (rows === undefined || action === undefined || check.faults.has(`${call.pointer}/rows/keep`)) return "any";
  const rowsPath = [...path, "rows"];
  if (rows.page !== undefined) checkPage(rows.page, [...rowsPath, "page"], action, check);
  const list = walk(action.outputSchema, rows.from);
  const types = "fault" in list ? undefined : typesOf(list.type);
  if ("fault" in list || (types !== undefined && !types.has("array"))) {
    const why = "fault" in list ? list.fault : `it is ${[...(types ?? [])].join(" or ")}`;
    const hint = `name a list of the output: ${listsOf(action.outputSchema).join(", ") || "this tool has none"}`;
    check.faults.add(
      "PROGRAM_REFERENCE_INVALID",
      [...rowsPath, "from"],
      `is no list in the output of ${call.tool}: ${why}`,
      hint,
    );
    return "any";
  }
  return rowSet(call, rowsPath, list.type, check);
}

function rowSet({ rows }: CallStep, path: Path, list: ValueType, check: Check): RowSet | "any" {
  if (rows === undefined) return "any";
  const item = list === undefined || !isObject(list.items) ? undefined : list.items;
  const types = typesOf(item);
  const isObjects = types === undefined || types.has("object");
  const look = (name: string, at: Path): ValueType => {
    const field = isObjects ? fieldType(item, name) : scalarField(item, name);
    if ("type" in field) return field.type;
    const hint = isObjects ? "name a field of the items" : "items that are no objects have the one field value";
    check.faults.add(
      "PROGRAM_REFERENCE_INVALID",
      at,
      `${formatValue(name)} is no field of the items: the item ${field.fault}`,
      hint,
    );
    return undefined;
  };
  const fields = new Map(rows.keep.map((name, index) => [name, look(name, [...path, "keep", index])]));
  if (rows.key !== undefined) {
    const key = typesOf(look(rows.key, [...path, "key"]));
    if (key !== undefined && !key.has("string") && !key.has("number")) {
      const hint = "name a field of text or numbers";
      check.faults.add(
        "PROGRAM_REFERENCE_INVALID",
        [...path, "key"],
        `is ${[...key].join(" or ")}, which identifies no row`,
        hint,
      );
    }
  }
  return { fields, hasStates: false };
}

function scalarField(item: ValueType, name: string): { readonly type: ValueType } | { readonly fault: string } {
  return name === "value" ? { type: item } : { fault: "is no object" };
}

function checkPage(
  page: NonNullable<NonNullable<CallStep["rows"]>["page"]>,
  path: Path,
  action: Action,
  check: Check,
): void {
  const { inputSchema, outputSchema } = action;
  const taken = fieldType(inputSchema, page.arg);
  if ("fault" in taken) {
    const hint = `name one of ${namesOf(inputSchema).join(", ")}`;
    check.faults.add(
      "PROGRAM_REFERENCE_INVALID",
      [...path, "arg"],
      `${formatValue(page.arg)} is no argument of ${action.slug}`,
      hint,
    );
  }
  const given = walk(outputSchema, page.from);
  if ("fault" in given) {
    const hint = "name the field of the output that holds the next page's token";
    check.faults.add(
      "PROGRAM_REFERENCE_INVALID",
      [...path, "from"],
      `is no field of the output: it ${given.fault}`,
      hint,
    );
    return;
  }
  const takenTypes = "type" in taken ? typesOf(taken.type) : undefined;
  const types = typesOf(given.type);
  if (types === undefined || takenTypes === undefined || [...types].some((type) => takenTypes.has(type))) return;
  const message = `is ${[...types].join(" or ")}, but ${page.arg} is ${[...takenTypes].join(" or ")}`;
  check.faults.add("PROGRAM_ARGUMENT_INVALID", [...path, "from"], message, "name the field that fits the argument");
}

function walk(schema: ValueType, path: Path): { readonly type: ValueType } | { readonly fault: string } {
  let type = schema;
  for (const step of path) {
    const field = fieldType(type, step);
    if ("fault" in field) return field;
    type = field.type;
  }
  return { type };
}

/** The lists of an output, two levels deep, as rows.from writes them. */
function listsOf(schema: JsonSchema, prefix = ""): string[] {
  const properties = isObject(schema.properties) ? Object.entries(schema.properties) : [];
  return properties.flatMap(([name, child]) => {
    if (!isObject(child)) return [];
    if (typesOf(child)?.has("array")) return [`${prefix}${name}[]`];
    return prefix === "" ? listsOf(child, `${name}.`) : [];
  });
}
