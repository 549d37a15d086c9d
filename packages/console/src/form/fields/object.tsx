import { useRef } from "react";
import { FieldGroup } from "../../ui/fields/field-group.tsx";
import { Disclosure } from "../../ui/layout/disclosure.tsx";
import { isAtFault } from "../faults.ts";
import { pointerTo } from "../pointer.ts";
import type { ObjectShape } from "../read-schema.ts";
import { valuesOf, withValue } from "../value.ts";
import type { DrawField, FieldProps } from "./field-props.ts";

/** Fields of a value of its own. They are opened where something is to be filled in, is, or is wrong; then they stay open. */
export function ObjectCell({ draw, ...props }: FieldProps<ObjectShape> & { draw: DrawField }) {
  const { label, hint, isRequired, pointer, value, faults } = props;
  const isOpen = useRef(false);
  isOpen.current ||= isRequired || value !== undefined || isAtFault(faults, pointer);
  return (
    <Disclosure
      initiallyOpen={isOpen.current}
      summary={
        <>
          <b>
            {label}
            {isRequired && " *"}
          </b>{" "}
          {hint}
        </>
      }
    >
      <FieldGroup label={label} faults={faults.get(pointer) ?? []}>
        <ObjectFields {...props} draw={draw} />
      </FieldGroup>
    </Disclosure>
  );
}

/** The fields of an object, without a frame. What is left with nothing in it is taken away. */
export function ObjectFields({
  shape,
  pointer,
  value,
  faults,
  onChange,
  draw,
}: Pick<FieldProps<ObjectShape>, "shape" | "pointer" | "value" | "faults" | "onChange"> & { draw: DrawField }) {
  const values = valuesOf(value);
  return shape.fields.map(({ name, description, ...field }) =>
    draw({
      ...field,
      label: name,
      hint: description,
      pointer: pointerTo(pointer, name),
      value: values[name],
      faults,
      onChange: (changed) => {
        const next = withValue(values, name, changed);
        onChange(Object.keys(next).length === 0 ? undefined : next);
      },
    }),
  );
}
