import { type ReactNode, useState } from "react";
import { AreaField, TextField } from "../ui/fields/field.tsx";
import { type PlacedFaults, pointerTo } from "./faults.ts";
import type { JsonShape, ObjectShape, Shape } from "./read-schema.ts";
import { cellOf, cellText, type Values, valuesOf } from "./value.ts";

/** Properties of every kind of field: its label and hints, its value, and its errors. */
export type FieldProps<Kind extends Shape = Shape> = {
  readonly label: string;
  readonly shape: Kind;
  readonly hint: string;
  /** Default as text, which applies if the user fills in no value; empty if there is none. */
  readonly fallback: string;
  readonly isRequired: boolean;
  readonly isSensitive: boolean;
  /** JSON Pointer to the value in the arguments of the tool. */
  readonly pointer: string;
  readonly value: unknown;
  readonly faults: PlacedFaults;
  /** Called with the new value when the user changes the field. If the new value is undefined, the field has no value any more. */
  readonly onChange: (value: unknown) => void;
};

/**
 * A function that draws a field of any kind. Fields that contain other fields get it as a parameter, so that the modules of the kinds need
 * not import each other.
 */
export type DrawField = (props: FieldProps) => ReactNode;

/** Returns the errors of this field as one text, without those of inner fields. Undefined if there are none. */
export function faultAt({ faults, pointer }: Pick<FieldProps, "faults" | "pointer">): string | undefined {
  return faults.get(pointer)?.join("; ");
}

/**
 * Draws the fields of an object, without a frame. If the user empties all of these fields, the whole object is removed from the form's
 * values.
 */
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

/** Draws a field whose value is written as JSON. */
export function JsonCell(props: FieldProps<JsonShape>) {
  const { shape, value, onChange, isSensitive } = props;
  const [typed, setTyped] = useState("");
  const isTyped = JSON.stringify(cellOf(typed)) === JSON.stringify(value);
  const shared = {
    label: props.label,
    value: isTyped ? typed : cellText(value, shape),
    hint: `${props.hint} ${shape.takesText ? "JSON, or plain text." : "JSON."}`.trim(),
    fault: faultAt(props),
    isRequired: props.isRequired,
    placeholder: props.fallback,
    onChange: (text: string) => {
      setTyped(text);
      onChange(cellOf(text));
    },
  };
  if (isSensitive) return <TextField {...shared} type="password" autoComplete="off" />;
  return shape.isLine ? <TextField {...shared} autoComplete="off" /> : <AreaField {...shared} mono />;
}

/** Returns the value with one property changed; undefined removes the property. */
function withValue(values: Values, name: string, value: unknown): Values {
  if (value !== undefined) return { ...values, [name]: value };
  return Object.fromEntries(Object.entries(values).filter(([key]) => key !== name));
}
