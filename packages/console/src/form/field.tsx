import { type ReactNode, useRef, useState } from "react";
import { Button } from "../ui/buttons/button.tsx";
import { AreaField, TextField } from "../ui/fields/field.tsx";
import { FieldGroup, FieldItem } from "../ui/fields/field-group.tsx";
import { SelectField } from "../ui/fields/select-field.tsx";
import { Disclosure } from "../ui/layout/disclosure.tsx";
import { Stack } from "../ui/layout/stack.tsx";
import { type DrawField, type FieldProps, faultAt, JsonCell, ObjectFields } from "./cells.tsx";
import { isAtFault, pointerTo } from "./faults.ts";
import styles from "./field.module.css";
import { type ObjectShape, plainText, type Shape } from "./read-schema.ts";
import { emptyOf, numberOf } from "./value.ts";

const examples: Record<string, string> = {
  "date-time": "2026-03-14T09:30:00Z",
  email: "name@example.com",
  uri: "https://example.com",
};

/** Draws a text field. An empty text counts as no value. */
function TextCell(props: FieldProps<Extract<Shape, { type: "text" }>>) {
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

const day = /^\d{4}-\d\d-\d\d$/;

/** Draws a field for a day, such as 2026-03-14. A value in another format, which the user may have written as JSON, is shown as text. */
function DateCell(props: FieldProps<Extract<Shape, { type: "date" }>>) {
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

/**
 * Draws a field of a form, of the kind that the schema requires. The attribute `data-pointer` lets listeners around the form know which
 * field the user left.
 */
export function Field(props: FieldProps): ReactNode {
  return (
    <div className={styles["place"]} data-pointer={props.pointer}>
      {cellOf(props)}
    </div>
  );
}

function cellOf(props: FieldProps): ReactNode {
  const { shape } = props;
  switch (shape.type) {
    case "text":
      return <TextCell {...props} shape={shape} />;
    case "number":
      return <NumberCell {...props} shape={shape} />;
    case "boolean":
      return <BooleanCell {...props} shape={shape} />;
    case "choice":
      return <ChoiceCell {...props} shape={shape} />;
    case "date":
      return <DateCell {...props} shape={shape} />;
    case "list":
      return <ListCell {...props} shape={shape} draw={drawField} />;
    case "object":
      return <ObjectCell {...props} shape={shape} draw={drawField} />;
    case "json":
      return <JsonCell {...props} shape={shape} />;
  }
}

function drawField(props: FieldProps): ReactNode {
  return <Field key={props.pointer} {...props} />;
}

/**
 * Draws a field for a number. It keeps the text that the user typed, even if the text is not a number. The service then reports the error.
 */
function NumberCell(props: FieldProps<Extract<Shape, { type: "number" }>>) {
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

/** Draws a field to choose one of the values that the schema lists. */
function ChoiceCell({ shape, ...props }: FieldProps<Extract<Shape, { type: "choice" }>>) {
  return <ValueChoice {...props} options={shape.options} />;
}

/** Draws a field to choose between true, false, and not set. */
function BooleanCell({ shape: _, ...props }: FieldProps<Extract<Shape, { type: "boolean" }>>) {
  return <ValueChoice {...props} options={[true, false]} />;
}

/**
 * Draws a choice among values of any type. The index of a value identifies it. A value that the user wrote as JSON and that is not among
 * the options is shown unchanged.
 */
function ValueChoice({ options, ...props }: Omit<FieldProps, "shape"> & { options: readonly unknown[] }) {
  const { value, fallback, onChange } = props;
  const all = value === undefined || options.includes(value) ? options : [...options, value];
  const none = { value: "", words: fallback === "" ? "not set" : `Default (${fallback})` };
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

/** Draws a list, with a field for each of its values. An empty list counts as no value. */
function ListCell({ draw, ...props }: FieldProps<Extract<Shape, { type: "list" }>> & { draw: DrawField }) {
  const { shape, label, hint, isRequired, isSensitive, pointer, faults, onChange } = props;
  const items: readonly unknown[] = Array.isArray(props.value) ? props.value : [];
  const change = (next: readonly unknown[]) => onChange(next.length === 0 ? undefined : next);
  return (
    <Stack tight>
      <b>
        {label}
        {isRequired && " *"}
      </b>
      {hint !== "" && <small>{hint}</small>}
      <FieldGroup label={label} faults={faults.get(pointer) ?? []}>
        {items.map((item, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: an item has no id, and its typed text is kept in `value`
          <FieldItem key={index} label={`${label} ${index + 1}`} onRemove={() => change(items.toSpliced(index, 1))}>
            {draw({
              label: `${label} ${index + 1}`,
              shape: shape.item,
              hint: "",
              fallback: "",
              isRequired: true,
              isSensitive,
              pointer: pointerTo(pointer, index),
              value: item,
              faults,
              onChange: (value) => change(items.with(index, value ?? (shape.item.type === "object" ? {} : ""))),
            })}
          </FieldItem>
        ))}
        <div>
          <Button icon="plus" onPress={() => change([...items, emptyOf(shape.item)])}>
            Add to {label}
          </Button>
        </div>
      </FieldGroup>
    </Stack>
  );
}

/** Returns the hint that a field shows to the user, or undefined if the hint is empty. */
function hintOf({ hint }: Pick<FieldProps, "hint">): string | undefined {
  return hint === "" ? undefined : hint;
}

/**
 * Draws the fields of an object, which the user can fold. They open if one of the fields is required, filled in or wrong. Once open, they
 * stay open.
 */
function ObjectCell({ draw, ...props }: FieldProps<ObjectShape> & { draw: DrawField }) {
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
