import { useState } from "react";
import { TextField } from "../../ui/fields/field.tsx";
import { plainText, type Shape } from "../read-schema.ts";
import { numberOf } from "../value.ts";
import { type FieldProps, faultAt, hintOf } from "./field-props.ts";

/** A number, as it is typed: what is none is faulted by the service, and not lost. */
export function NumberCell(props: FieldProps<Extract<Shape, { type: "number" }>>) {
  const { shape, value, fallback, onChange } = props;
  const [typed, setTyped] = useState("");
  const shown = numberOf(typed) === value ? typed : plainText(value ?? "");
  return (
    <TextField
      label={props.label}
      value={shown}
      hint={hintOf(props)}
      fault={faultAt(props)}
      isRequired={props.isRequired}
      placeholder={fallback}
      inputMode={shape.isInteger ? "numeric" : "decimal"}
      autoComplete="off"
      onChange={(text) => {
        setTyped(text);
        onChange(numberOf(text));
      }}
    />
  );
}
