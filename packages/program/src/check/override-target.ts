import { holdsSensitivePlace, marksSensitive, placeAt, schemaPlace } from "@svc/catalog";
import { isObject } from "@svc/core";
import { pathOf } from "../json.ts";
import type { Overrides, OverrideTarget, Point } from "../point.ts";
import type { Program } from "../program.ts";
import { callsOf } from "../steps/index.ts";
import { argumentOfPage } from "../steps/parts/page.ts";
import { faultOfAssignment, fieldType, namesOf, typeOfConstant, type ValueType } from "../types/schema-type.ts";
import type { Check } from "./context.ts";
import { checkSensitiveSchema } from "./sensitive.ts";

/** Checks that every value an answer may give fits where it goes. Records every fault. */
export function checkOverrideTarget(
  program: Program,
  { pointer, answerSchema }: Point,
  { target }: Overrides,
  leftOut: ReadonlySet<string>,
  check: Check,
): void {
  const { faults, actions } = check;
  const path = pathOf(pointer);
  if (answerSchema !== undefined) checkSensitiveSchema(answerSchema, [...path, "answerSchema"], check);
  const found = targetType(program, target, actions);
  if ("fault" in found) {
    if (target.kind === "args" && leftOut.has(target.step)) return;
    const hint = "write params, or steps.<id>.args with the id of a call";
    faults.add("PROGRAM_REFERENCE_INVALID", [...path, "overrides", "target"], found.fault, hint);
    return;
  }
  const properties = isObject(answerSchema?.properties) ? answerSchema.properties : {};
  for (const [name, schema] of Object.entries(properties)) {
    const fault = faultOfProperty(name, schema, found);
    const at = [...path, "answerSchema", "properties", name];
    if (fault !== undefined) faults.add("PROGRAM_POINT_INVALID", at, fault.message, fault.hint);
    else if (!check.isStored && isShown(name, schema, found)) {
      const message = "changes a sensitive argument, and answers are shown";
      faults.add("PROGRAM_SENSITIVE_LITERAL", at, message, 'mark it: "x-sensitive": true');
    }
  }
}

/** Whether an answer would show what the argument it changes keeps secret. */
function isShown(name: string, schema: unknown, { type }: Target): boolean {
  if (type === undefined || !holdsSensitivePlace(placeAt(schemaPlace(type), name))) return false;
  return !isObject(schema) || !marksSensitive(schema);
}

/** What answers change: its type, and the fields of it that stay as they are. */
type Target = { readonly type: ValueType; readonly fixed: readonly string[] };

function targetType(program: Program, target: OverrideTarget, actions: Check["actions"]): Target | { fault: string } {
  if (target.kind === "params") return { type: typeOfConstant(program.params), fixed: [] };
  const call = callsOf(program.steps).find(({ id }) => id === target.step);
  if (call === undefined) return { fault: `there is no call ${target.step}` };
  if (call.http !== undefined) return { fault: `${target.step} is an http step, whose request no answer changes` };
  const action = actions.get(call.tool);
  return { type: action?.inputSchema, fixed: ["confirm", ...argumentOfPage(call.rows?.page, action)] };
}

function faultOfProperty(
  name: string,
  schema: unknown,
  { type, fixed }: Target,
): { readonly message: string; readonly hint: string } | undefined {
  const field = fixed.includes(name) ? { fault: "is not for answers to change" } : fieldType(type, name);
  if ("fault" in field) {
    const names = type === undefined ? [] : namesOf(type).filter((known) => !fixed.includes(known));
    return { message: `${name} ${field.fault}`, hint: `name what the target has: ${names.join(", ")}` };
  }
  const misfit = isObject(schema) ? faultOfAssignment(schema, field.type) : undefined;
  return misfit === undefined
    ? undefined
    : { message: `${misfit}, as the target needs`, hint: "give it the type of what it changes" };
}
