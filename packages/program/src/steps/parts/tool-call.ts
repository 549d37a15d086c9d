import { type AccessClass, type Action, isSensitiveAt, type JsonSchema, nearest } from "@svc/catalog";
import { call, formatValue, isObject, text } from "@svc/core";
import type { Check } from "../../check/context.ts";
import { checkReferences, type SecretPlaces } from "../../check/references.ts";
import { type Path, pathOf, pointerOf } from "../../json.ts";
import { defaultRetry, defaultTimeoutMs, durationBounds } from "../../limits.ts";
import { durationSchema, numberSchema, type ObjectForm, ref, schemaOf, wholeSchema } from "../../read/form.ts";
import type { ShapeFields, ShapeNode, ShapeReader } from "../../read/shape.ts";
import type { ValueTemplate } from "../../template.ts";
import type { ValueType } from "../../types/schema-type.ts";
import type { Scope } from "../../types/scope.ts";
import { checkArguments, readArgs } from "./arguments.ts";
import { classOfMethod, type HttpCall } from "./http-request.ts";
import type { RowsSpec } from "./rows.ts";

/** The definition `args` in the JSON Schema of programs: the arguments of a call, by name. */
const argsDefinition: JsonSchema = {
  description:
    "Arguments by name; any value in them may be a reference. A destructive call has the literal confirm: true.",
  type: "object",
  properties: { $ref: false, $text: false, $cel: false, $literal: false },
  examples: [{ calendar_id: { $ref: "input.calendar" }, max_results: 250 }],
};

/** How a call is retried: at most `max` times. The wait before retry n is initialMs * factor^n, at most capMs. */
export type RetryRule = {
  readonly max: number;
  readonly initialMs: number;
  readonly factor: number;
  readonly capMs: number;
};

const bounds = { max: { min: 0, max: 10 }, factor: { min: 1, max: 10 } };

/** The required and optional fields of `retry`, with their schemas. */
const retryForm: ObjectForm = {
  description:
    "How svc repeats a call with a retryable outcome. Without it, svc does not repeat. It repeats a write only if that cannot do the write twice.",
  required: { max: wholeSchema("Most repetitions.", bounds.max, 4) },
  optional: {
    initial: durationSchema("Wait before the first repetition, 100ms to 1h. Default 1s.", "1s"),
    factor: numberSchema("Factor by which each wait grows. Default 2.", bounds.factor, 2),
    cap: durationSchema("Longest wait, 100ms to 1h. Default 60s, or initial if that is longer.", "60s"),
  },
  examples: [{ max: 4, initial: "1s", factor: 2, cap: "60s" }],
};

/** Reads how a call is retried. If `retry` is absent, the call is not retried. */
export function readRetry(node: ShapeNode, reader: ShapeReader): RetryRule {
  const fields = node.value === undefined ? undefined : reader.fields(node, retryForm);
  if (fields === undefined) return defaultRetry;
  const initialMs = reader.duration(fields.at("initial"), durationBounds.retry) ?? defaultRetry.initialMs;
  const cap = fields.at("cap");
  const capMs = reader.duration(cap, durationBounds.retry) ?? Math.max(initialMs, defaultRetry.capMs);
  if (capMs < initialMs) {
    reader.faults.addYounger("PROGRAM_LIMIT_INVALID", cap.path, "is shorter than initial", "raise it to initial");
  }
  return {
    max: reader.number(fields.at("max"), bounds.max) ?? defaultRetry.max,
    initialMs,
    factor: reader.number(fields.at("factor"), { ...bounds.factor, isWhole: false }) ?? defaultRetry.factor,
    capMs,
  };
}

/** A tool call or an HTTP request, in a step or in an `undo`. */
export type ToolCall = {
  /** The slug of the tool. `http` for an HTTP request. */
  readonly tool: string;
  /** Id of the entity (customer or user) whose connected account the call uses. Empty for an HTTP request, which uses no account. */
  readonly entity: string;
  readonly http?: HttpCall | undefined;
  /** The arguments of the tool call in the program: a template of kind `object`, or of kind `literal` if they have no references. */
  readonly args: ValueTemplate;
  readonly retry: RetryRule;
  readonly timeoutMs: number;
  readonly pointer: string;
};

/** The call that undoes another call. Its references may use `output`, the answer of that other call. */
type UndoCall = ToolCall;

/** A call that a step of a program makes: once, or for each row in a `map` step. */
export type StepCall = ToolCall & {
  readonly id: string;
  readonly rows: RowsSpec | undefined;
  readonly undo: UndoCall | undefined;
};

const toolSlug = { max: 200, pattern: /^[a-z][a-z0-9_]*\.[a-z][a-z0-9_]*$/ };

/** JSON Schemas for the fields of a call (such as `tool`), which the schema of programs refers to by name. */
export const toolCallDefinitions: Readonly<Record<string, JsonSchema>> = {
  tool: {
    description: "Slug of the tool, unique in the catalog. Skills and triggers cannot be called.",
    type: "string",
    pattern: toolSlug.pattern.source,
    maxLength: toolSlug.max,
    examples: ["calendar.list_events"],
  },
  entity: {
    description:
      "Entity whose account is used. When the program is submitted, the entity must have an active account of the toolkit.",
    type: "string",
    minLength: 1,
    maxLength: 200,
    examples: ["ops"],
  },
  args: argsDefinition,
  timeout: durationSchema("Maximum duration of one call, 1s to 30s. Default 30s.", "30s"),
  retry: schemaOf(retryForm),
};

/** The optional fields of every call. */
export const callOptions = { args: ref("args"), retry: ref("retry"), timeout: ref("timeout") };

/**
 * Reads a call in a program, except for its entity (the customer or user whose account is used). Returns undefined if the call names no
 * tool.
 */
export function readToolCall(
  fields: ShapeFields,
  pointer: string,
  reader: ShapeReader,
): Omit<ToolCall, "entity"> | undefined {
  const named = fields.at("call").value;
  const snake =
    typeof named === "string"
      ? named
          .slice(0, 100)
          .replaceAll(/([a-z0-9])([A-Z])/g, "$1_$2")
          .toLowerCase()
      : "";
  const meant = snake !== named && toolSlug.pattern.test(snake) ? `${JSON.stringify(snake)}, or ` : "";
  const hint = `write ${meant}<toolkit>.<tool>, as search_tools names it`;
  const tool = reader.text(fields.at("call"), { ...toolSlug, hint });
  if (tool === undefined) return undefined;
  return {
    tool,
    pointer,
    args: readArgs(fields.at("args"), reader),
    retry: readRetry(fields.at("retry"), reader),
    timeoutMs: reader.duration(fields.at("timeout"), durationBounds.timeout) ?? defaultTimeoutMs,
  };
}

/**
 * Reads the entity of a call (the customer or user whose account the call uses). An invalid entity becomes "", so that no account is looked
 * up for it.
 */
export function readEntity(node: ShapeNode, reader: ShapeReader): string {
  return reader.text(node, { max: 200, hint: "write the entity whose account is used, 1 to 200 characters" }) ?? "";
}

/**
 * Checks a call: its tool, its references and its arguments. Arguments in `given` need not be in the program, because svc adds them.
 * Returns the tool if it can be called.
 */
export function checkToolCall(
  { tool, args, pointer }: ToolCall,
  given: readonly string[],
  scope: Scope,
  check: Check,
): Action | undefined {
  const path = [...pathOf(pointer), "args"];
  const action = findAction(tool, [...pathOf(pointer), "call"], check);
  checkReferences(args, path, scope, check.faults, secretPlaces(action, scope));
  if (action !== undefined) checkArguments({ args, action, path, given }, scope, check);
  return action;
}

/**
 * Returns a test for the arguments in which a call may use secrets. These are the arguments that its tool marks as sensitive. A call that
 * undoes an earlier call may not use secrets, because all its arguments are stored before it is sent.
 */
function secretPlaces(action: Action | undefined, { output }: Scope): SecretPlaces {
  if (output !== undefined) {
    return { takes: () => false, hint: "name a field of the answer that is undone: an undo takes no secret" };
  }
  // If the tool is unknown, any argument may contain a secret here. So only the unknown tool is reported as a fault.
  const takes = (path: Path) => action === undefined || isSensitiveAt(action.inputSchema, path);
  const hint = `${action?.slug ?? "the tool"} does not mark this argument x-sensitive; a secret stays secret only in a marked argument or in an http step`;
  return { takes, hint };
}

/** Returns the access class of a call, and if the call can be repeated without a further effect. Returns undefined for an unknown tool. */
export function effectOf(
  { tool, http }: Pick<ToolCall, "tool" | "http">,
  actions: Check["actions"],
): { readonly access: AccessClass; readonly takesKey: boolean } | undefined {
  if (http !== undefined) return { access: classOfMethod(http.method), takesKey: http.keyHeader !== undefined };
  const action = actions.get(tool);
  return action && { access: action.class, takesKey: action.idempotency !== undefined };
}

/** Returns the tool that a call names. If a program cannot call this tool, records a fault and returns undefined. */
function findAction(slug: string, path: Path, check: Check): Action | undefined {
  const { faults, view, actions } = check;
  const known = actions.get(slug);
  if (known !== undefined) return known;
  const tool = view.tools.get(slug);
  if (slug.startsWith("skills.")) {
    const hint = `run it: {"id": "…", "run": ${JSON.stringify(slug)}, "input": {…}}`;
    faults.add("PROGRAM_TOOL_NOT_CALLABLE", path, `${slug} is a skill, not a tool`, hint);
  } else if (tool === undefined) {
    const near = nearTools(slug, check);
    const hint =
      near.length > 0
        ? text`its toolkit has ${near.join(", ")}; ${call("ListTools")} lists all`
        : "search_tools finds tools by their purpose";
    faults.add("PROGRAM_TOOL_UNKNOWN", path, `there is no tool ${formatValue(slug)}`, hint);
  } else if (tool.kind !== "action") {
    faults.add("PROGRAM_TOOL_NOT_CALLABLE", path, `${slug} is a trigger`, "call an action; triggers send events");
  } else if (!tool.callable) {
    faults.add(
      "PROGRAM_TOOL_NOT_CALLABLE",
      path,
      `${slug} cannot be called. ${tool.uncallableReason}`,
      "call another tool of its toolkit",
    );
  } else {
    actions.set(slug, tool);
    return tool;
  }
  return undefined;
}

/**
 * Returns tools of the same app for a hint: first the tool that was probably meant, then tools whose names share words with the slug, most
 * words first.
 */
function nearTools(slug: string, { faults, view: { tools, toolkits } }: Check): readonly string[] {
  const [toolkit = "", name = ""] = slug.split(".");
  if (!toolkits.has(toolkit)) return [];
  const words = new Set(name.split("_").map(stem));
  const named = [...tools.values()].filter((tool) => tool.toolkitSlug === toolkit && tool.kind === "action");
  const shared = named.map((tool) => {
    return { slug: tool.slug, count: tool.name.split("_").filter((word) => words.has(stem(word))).length };
  });
  const slugs = named.slice(0, comparedMax).map((tool) => tool.slug);
  const meant = faults.count < meantMax ? nearest(slug, slugs) : undefined;
  const alike = shared.toSorted((a, b) => b.count - a.count).map((tool) => tool.slug);
  return [...new Set([...(meant === undefined ? [] : [meant]), ...alike])].slice(0, nearMax);
}

const nearMax = 8;
/** Maximum number of tools that svc compares with an unknown slug to suggest a similar one. One comparison takes up to 10 µs. */
const comparedMax = 200;
/** Number of faults in a program from which svc suggests no similar slug any more. */
const meantMax = 5;

/** Returns a word without its plural ending. */
function stem(word: string): string {
  return word.replace(/s$/, "");
}

/** The required and optional fields of `undo` (the call that undoes another call), with their schemas. */
export const undoForm: ObjectForm = {
  description:
    "The call that undoes this call. The saga runs undo calls in reverse order. Its arguments may name output, the answer of the call that is undone.",
  required: { call: ref("tool") },
  optional: { entity: ref("entity"), args: callOptions.args },
  examples: [
    {
      call: "messaging_bot.delete_message",
      entity: "ops",
      args: { chat_id: "@team", message_id: { $ref: "output.message_id" }, confirm: true },
    },
  ],
};

/** Fields of an `undo` that stored programs may contain. svc ignores these fields, because every undo call is retried in the same way. */
const unheeded = ["retry", "timeout"];

/**
 * Reads how a call is undone. If the undo call names no entity (the customer or user whose account is used), it uses the entity of the
 * call.
 */
export function readUndo(node: ShapeNode, reader: ShapeReader, callEntity: string): UndoCall | undefined {
  const { value } = node;
  const named = isObject(value) ? unheeded.filter((name) => Object.hasOwn(value, name)) : [];
  for (const name of named) {
    const message = "has no effect: svc always tries an undo up to three times, each for up to 30 s";
    reader.faults.addYounger("PROGRAM_MALFORMED", [...node.path, name], message, "leave it out");
  }
  const heeded = isObject(value)
    ? Object.fromEntries(Object.entries(value).filter(([name]) => !named.includes(name)))
    : value;
  const fields = reader.fields({ ...node, value: heeded as ShapeNode["value"] }, undoForm);
  const call = fields && readToolCall(fields, pointerOf(node.path), reader);
  if (fields === undefined || call === undefined) return undefined;
  const entity = fields.has("entity") ? readEntity(fields.at("entity"), reader) : callEntity;
  return { ...call, entity };
}

/** Checks the undo call of a call. `output`: the type of the answer of the call that is undone. */
export function checkUndo(call: StepCall, undo: UndoCall, output: ValueType, scope: Scope, check: Check): void {
  const calls = scope.calls && new Map([...scope.calls, [call.id, { type: output, maySkip: false }] as const]);
  checkToolCall(undo, [], { ...scope, calls, output: { type: output } }, check);
}
