import { AreaField, TextField } from "../../ui/fields/field.tsx";
import { plainText, type Shape } from "../read-schema.ts";
import { type FieldProps, faultAt, hintOf } from "./field-props.ts";

const examples: Record<string, string> = {
  "date-time": "2026-03-14T09:30:00Z",
  email: "name@example.com",
  uri: "https://example.com",
};

/** A text: nothing typed is nothing given. */
export function TextCell(props: FieldProps<Extract<Shape, { type: "text" }>>) {
  const { shape, value, fallback, isSensitive, onChange } = props;
  const shared = {
    label: props.label,
    value: value === undefined ? "" : plainText(value),
    hint: hintOf(props),
    fault: faultAt(props),
    isRequired: props.isRequired,
    placeholder: fallback || (examples[shape.format] ?? ""),
    onChange: (text: string) => onChange(text === "" ? undefined : text),
  };
  if (shape.isLong && !isSensitive) return <AreaField {...shared} />;
  return <TextField {...shared} type={isSensitive ? "password" : "text"} autoComplete="off" />;
}
