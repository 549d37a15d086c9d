import type { Document } from "../../builder/document.ts";
import type { WireFault } from "../../calls/fault.ts";
import { stepsOf } from "../../json/locate.ts";
import { fieldText, memberOf } from "../../json/value.ts";

/**
 * The state of the form that edits a schedule's definition: the definition's JSON document, and its errors. Each error names the JSON
 * Pointer of the wrong value.
 */
export type DefinitionForm = {
  readonly document: Document;
  readonly faults: readonly WireFault[];
};

/** Returns the JSON Pointer to the value in the definition that an error of the service is about. Empty for the whole definition. */
export function pointerOf({ field }: WireFault): string {
  return field.replace(/^definitionJson/, "");
}

/** Returns the errors at a value and inside it as one text. Undefined if there are none. */
export function faultAt({ faults }: DefinitionForm, pointer: string): string | undefined {
  const found = faults.filter((fault) => isInside(pointerOf(fault), pointer)).map(({ help }) => help);
  return found.length === 0 ? undefined : found.join(" ");
}

/** True if a pointer points to the value of the pointer `around`, or into it. */
function isInside(pointer: string, around: string): boolean {
  return pointer === around || pointer.startsWith(`${around}/`);
}

/** Returns the value at a JSON Pointer of a schedule's definition. Undefined if the definition has no such value. */
export function valueAt({ document }: DefinitionForm, pointer: string): unknown {
  return memberOf(document.root, ...stepsOf(pointer));
}

/** Returns the properties of a labelled text input for a value of the definition. An empty text removes the value. */
export function textInput(
  form: DefinitionForm,
  pointer: string,
  label: string,
  read: (text: string) => unknown = (text) => text,
): { label: string; value: string; fault: string | undefined; onChange: (text: string) => void } {
  return {
    label,
    value: fieldText(valueAt(form, pointer)),
    fault: faultAt(form, pointer),
    onChange: (text) => form.document.set(pointer, text === "" ? undefined : read(text)),
  };
}
