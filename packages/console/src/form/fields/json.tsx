import { useState } from "react";
import { AreaField, TextField } from "../../ui/fields/field.tsx";
import type { JsonShape } from "../read-schema.ts";
import { cellOf, cellText } from "../value.ts";
import { type FieldProps, faultAt } from "./field-props.ts";

/** A value that is written as JSON. */
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
