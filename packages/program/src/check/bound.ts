import { type Binding, bindingText, formatValue, isToolGranted, isToolkitGranted, skillsToolkitSlug } from "@svc/core";
import { createFaultList, type FaultList, type ProgramFault } from "../faults.ts";
import { type Path, pathOf } from "../json.ts";
import { callsOf } from "../steps/index.ts";
import { classOfMethod } from "../steps/parts/http-request.ts";
import type { ToolCall } from "../steps/parts/tool-call.ts";
import type { AcceptedProgram } from "./accepted-program.ts";
import { secretUsesOf } from "./secrets.ts";

/**
 * Name of a toolkit that stands for HTTP requests. If a scoped key may use this toolkit, its programs and skills may send HTTP requests.
 */
const httpSlug = "http";

/**
 * Returns a fault for each part of an accepted program that is outside the caller's access scope: another entity (customer or user), a tool
 * that was not granted, or any secret, because secrets belong to no entity. Nested skills are also checked. `document`: the parsed text of
 * the program.
 */
export function boundFaultsOf(accepted: AcceptedProgram, binding: Binding, document: unknown): readonly ProgramFault[] {
  const faults = createFaultList(document);
  const { program, skills } = accepted;
  for (const call of callsOf(program.steps)) {
    for (const one of call.undo === undefined ? [call] : [call, call.undo])
      checkCall(one, { accepted, binding, faults });
  }
  if (binding.entityId !== "") {
    for (const { path, name } of secretUsesOf(program)) {
      const message = `names the secret ${name} of the project, but the key that submits it is limited to ${bindingText(binding)}`;
      faults.add("PROGRAM_ENTITY_BOUND", path, message, "use an account of the entity");
    }
  }
  for (const [name, skill] of skills) {
    if (!isToolkitGranted(binding, skillsToolkitSlug)) notGranted(faults, ["steps"], `runs ${name}`, binding);
    const [first] = boundFaultsOf(skill.accepted, binding, undefined);
    if (first !== undefined) faults.add(first.code, ["steps"], `runs ${name}, which ${first.message}`, first.hint);
  }
  return faults.list();
}

type Looking = {
  readonly accepted: Pick<AcceptedProgram, "pins">;
  readonly binding: Binding;
  readonly faults: FaultList;
};

function checkCall({ tool, entity, http, pointer }: ToolCall, { accepted, binding, faults }: Looking): void {
  const path = pathOf(pointer);
  if (http === undefined && binding.entityId !== "" && entity !== binding.entityId) {
    const message = `names the entity ${formatValue(entity)}, but the key that submits it is limited to ${bindingText(binding)}`;
    faults.add("PROGRAM_ENTITY_BOUND", [...path, "entity"], message, `write ${formatValue(binding.entityId)}`);
  }
  const [toolkitSlug = ""] = tool.split(".");
  const pinned = accepted.pins[toolkitSlug]?.definition.actions.find(({ slug }) => slug === tool)?.class;
  const used =
    http === undefined
      ? { toolkitSlug, class: pinned ?? "destructive" }
      : { toolkitSlug: httpSlug, class: classOfMethod(http.method) };
  if (isToolGranted(binding, used)) return;
  const what = http === undefined ? `calls ${tool}, a ${used.class} tool` : `sends a request, a ${used.class} tool`;
  notGranted(faults, [...path, http === undefined ? "call" : "http"], what, binding);
}

function notGranted(faults: FaultList, path: Path, what: string, binding: Binding): void {
  const message = `${what}, but the key that submits it may use only ${bindingText({ ...binding, entityId: "" })}`;
  faults.add("PROGRAM_TOOL_NOT_GRANTED", path, message, "use one of those, or a key with more access");
}
