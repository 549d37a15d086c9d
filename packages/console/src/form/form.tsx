import { useRef } from "react";
import { GroupFaults } from "../ui/fields/field-group.tsx";
import { Disclosure } from "../ui/layout/disclosure.tsx";
import { Stack } from "../ui/layout/stack.tsx";
import { ObjectFields } from "./cells.tsx";
import { isAtFault, type PlacedFaults, pointerTo } from "./faults.ts";
import { Field } from "./field.tsx";
import type { ObjectShape } from "./read-schema.ts";
import { type Values, valuesOf } from "./value.ts";

/** Maximum number of optional fields that are shown directly. If there are more, they are folded behind a line that opens them. */
const optionalShown = 5;

/** Draws the fields of a schema, required fields first. Errors of the whole form are shown above the fields. */
export function Form({
  shape,
  values,
  faults,
  onChange,
}: {
  shape: ObjectShape;
  values: Values;
  faults: PlacedFaults;
  onChange: (values: Values) => void;
}) {
  const isOpen = useRef(false);
  const required = shape.fields.filter(({ isRequired }) => isRequired);
  const optional = shape.fields.filter(({ isRequired }) => !isRequired);
  // If a form has only a few optional fields, they are shown without folding, because unfolding would be one more step for the user.
  const isShort = required.length === 0 && optional.length <= optionalShown;
  const filled = optional.filter(({ name }) => values[name] !== undefined).length;
  isOpen.current ||=
    filled > 0 ||
    optional.length <= optionalShown ||
    optional.some(({ name }) => isAtFault(faults, pointerTo("", name)));
  const shared = {
    pointer: "",
    value: values,
    faults,
    onChange: (value: unknown) => onChange(valuesOf(value)),
    draw: (props: Parameters<typeof Field>[0]) => <Field key={props.pointer} {...props} />,
  };
  return (
    <Stack>
      <GroupFaults faults={faults.get("") ?? []} />
      {shape.fields.length === 0 && <p>This tool has no arguments.</p>}
      <ObjectFields {...shared} shape={{ type: "object", fields: required }} />
      {isShort && <ObjectFields {...shared} shape={{ type: "object", fields: optional }} />}
      {optional.length > 0 && !isShort && (
        <Disclosure
          initiallyOpen={isOpen.current}
          summary={`${optional.length} optional${filled === 0 ? "" : `, ${filled} filled in`}`}
        >
          <Stack>
            <ObjectFields {...shared} shape={{ type: "object", fields: optional }} />
          </Stack>
        </Disclosure>
      )}
    </Stack>
  );
}
