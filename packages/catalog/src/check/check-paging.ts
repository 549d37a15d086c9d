import { isObject } from "@svc/core";
import type { DefinitionFile, FaultPath } from "../read/definition-file.ts";
import type { ActionDocument, JsonSchema, PagingDocument } from "../read/documents.ts";
import { faultOfOutputPath } from "./check-response.ts";

type PagingFault = readonly [path: FaultPath, reason: string, cure: string];

/** The parts of an action that its paging refers to. */
type PagedAction = Pick<Partial<ActionDocument>, "paging" | "input" | "output">;

/**
 * Checks the part `paging` of an action's file, which says how the next page of the action's list is requested. Records every error in
 * `file`.
 */
export function checkPaging(file: DefinitionFile, document: PagedAction): void {
  for (const fault of faultsOfPaging(document)) file.fault(...fault);
}

/** Returns the errors of an action's paging; empty if the action declares no paging. */
export function faultsOfPaging({ paging, input, output }: PagedAction): readonly PagingFault[] {
  if (paging === undefined) return [];
  const own = faultsOfForm(paging);
  const taken = input === undefined ? [] : faultsOfArguments(paging, argumentsOf(input));
  return [...own, ...taken, ...(output === undefined ? [] : faultsOfPaths(paging, output))];
}

/** Returns errors if a field of `paging` is missing, or if two of its fields must not be used together. */
function faultsOfForm({ from, query, start, by, size }: PagingDocument): PagingFault[] {
  const faults: PagingFault[] = [];
  if (from === undefined) {
    if (query !== undefined) {
      faults.push([["paging", "query"], "is given without from", "add from: the path of the link in the output"]);
    } else if (start === undefined && by === undefined) {
      const cure = "add from: <path of the next token>, or start: 1 for page numbers, or by: rows for an offset";
      faults.push([["paging"], "does not say what arg takes", cure]);
    }
    return faults;
  }
  for (const [name, value] of Object.entries({ start, by, size })) {
    if (value === undefined) continue;
    const cure = `remove ${name}: the value for arg is in the output, at from; or remove from, if pages or rows are counted`;
    faults.push([["paging", name], "is given together with from", cure]);
  }
  return faults;
}

type Properties = Readonly<Record<string, unknown>>;

function argumentsOf(input: JsonSchema): Properties {
  return isObject(input.properties) ? input.properties : {};
}

function faultsOfArguments(paging: PagingDocument, properties: Properties): PagingFault[] {
  const { arg, from, start = 0, by, size } = paging;
  const isCounting = from === undefined && (paging.start !== undefined || by !== undefined);
  const faults: PagingFault[] = [];
  const look = (name: string, key: string, isCounted: boolean) => {
    if (!Object.hasOwn(properties, name)) {
      const known = Object.keys(properties).join(", ");
      const cure =
        known === "" ? "remove paging: the tool takes no arguments" : `name one of input.properties: ${known}`;
      faults.push([["paging", key], `"${name}" is not an argument`, cure]);
    } else if (isCounted && !takesNumbers(properties[name])) {
      const cure = from === undefined && key === "arg" ? "name one that does, or add from" : "name one that does";
      faults.push([["paging", key], `"${name}" does not take whole numbers`, cure]);
    }
  };
  look(arg, "arg", isCounting);
  if (size !== undefined && from === undefined) look(size, "size", true);
  const { minimum, maximum }: JsonSchema = isObject(properties[arg]) ? properties[arg] : {};
  const isOut = (typeof minimum === "number" && start < minimum) || (typeof maximum === "number" && start > maximum);
  if (isCounting && isOut) {
    faults.push([["paging", "start"], `is ${start}, which ${arg} does not take`, `write what its schema allows`]);
  }
  return faults;
}

function takesNumbers(schema: unknown): boolean {
  const types = isObject(schema) && schema.type !== undefined ? [schema.type].flat() : undefined;
  return types === undefined || types.includes("integer") || types.includes("number");
}

function faultsOfPaths({ from, query, more }: PagingDocument, output: JsonSchema): PagingFault[] {
  const faults: PagingFault[] = [];
  const look = (key: string, path: string, wanted: readonly string[], cure: string) => {
    const fault = faultOfOutputPath(output, path, wanted, { mayBeLast: key === "from" && query === undefined });
    if (fault !== undefined) faults.push([["paging", key], `"${path}" ${fault}`, cure]);
  };
  if (from !== undefined && query === undefined) {
    look("from", from, ["string", "integer", "number"], "name the text or number that is the next page's token");
  }
  if (from !== undefined && query !== undefined)
    look("from", from, ["string"], "name the text that is the next page's link");
  if (more !== undefined) look("more", more, ["boolean"], "name the boolean that is false on the last page");
  return faults;
}
