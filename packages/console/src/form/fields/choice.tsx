import { SelectField } from "../../ui/fields/select-field.tsx";
import { plainText, type Shape } from "../read-schema.ts";
import { type FieldProps, faultAt, hintOf } from "./field-props.ts";

/** One of the values that a schema lists. */
export function ChoiceCell({ shape, ...props }: FieldProps<Extract<Shape, { type: "choice" }>>) {
  return <ValueChoice {...props} options={shape.options} />;
}

/** True, false, or not said. */
export function BooleanCell({ shape: _, ...props }: FieldProps<Extract<Shape, { type: "boolean" }>>) {
  return <ValueChoice {...props} options={[true, false]} />;
}

/** Chooses by place, since values may be of any type. One that is not listed, from JSON, stands there as it is. */
function ValueChoice({ options, ...props }: Omit<FieldProps, "shape"> & { options: readonly unknown[] }) {
  const { value, fallback, onChange } = props;
  const all = value === undefined || options.includes(value) ? options : [...options, value];
  const none = { value: "", words: fallback === "" ? "not set" : `not set: ${fallback} counts` };
  return (
    <SelectField
      label={props.label}
      value={value === undefined ? "" : String(all.indexOf(value))}
      options={[none, ...all.map((option, index) => ({ value: String(index), words: plainText(option) }))]}
      hint={hintOf(props)}
      fault={faultAt(props)}
      isRequired={props.isRequired}
      onChange={(index) => onChange(index === "" ? undefined : all[Number(index)])}
    />
  );
}
