import { Button } from "../../ui/buttons/button.tsx";
import { FieldGroup, FieldItem } from "../../ui/fields/field-group.tsx";
import { Stack } from "../../ui/layout/stack.tsx";
import { pointerTo } from "../pointer.ts";
import type { Shape } from "../read-schema.ts";
import { emptyOf } from "../value.ts";
import type { DrawField, FieldProps } from "./field-props.ts";

/** A list, a field for each of its values. An empty one is none. */
export function ListCell({ draw, ...props }: FieldProps<Extract<Shape, { type: "list" }>> & { draw: DrawField }) {
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
          // biome-ignore lint/suspicious/noArrayIndexKey: an item is its place, and what is typed there stands in its value
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
