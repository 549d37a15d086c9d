import { TextField } from "../../ui/fields/field.tsx";
import { plainText, type Shape } from "../read-schema.ts";
import { type FieldProps, faultAt, hintOf } from "./field-props.ts";

const day = /^\d{4}-\d\d-\d\d$/;

/** A day, such as 2026-03-14. One that is written otherwise, in JSON, is shown as text. */
export function DateCell(props: FieldProps<Extract<Shape, { type: "date" }>>) {
  const text = props.value === undefined ? "" : plainText(props.value);
  return (
    <TextField
      label={props.label}
      type={text === "" || day.test(text) ? "date" : "text"}
      value={text}
      hint={hintOf(props)}
      fault={faultAt(props)}
      isRequired={props.isRequired}
      onChange={(value) => props.onChange(value === "" ? undefined : value)}
    />
  );
}
