import type { ReactNode } from "react";
import type { PlacedFaults } from "../../../form/faults.ts";
import { Form } from "../../../form/form.tsx";
import type { ObjectShape } from "../../../form/read-schema.ts";
import { AreaField } from "../../../ui/fields/field.tsx";
import { GroupFaults } from "../../../ui/fields/field-group.tsx";
import { Stack } from "../../../ui/layout/stack.tsx";
import { Tabs } from "../../../ui/layout/tabs.tsx";
import { argumentsText, formFault, toForm, toJson } from "./arguments.ts";
import type { TryInput } from "./use-try.ts";

/**
 * Draws the arguments of a tool call, as a form or as JSON. The user can switch between them. `mode`: `json` if the page's address asks for
 * JSON.
 */
export function ArgumentsField({
  shape,
  input: { typed, setTyped, fault },
  faults,
  mode,
  onMode,
  onLeave,
}: {
  shape: ObjectShape;
  input: TryInput;
  faults: PlacedFaults;
  mode: "json" | undefined;
  onMode: (mode: "json" | undefined) => void;
  /** Called when the user leaves a field, with the field's pointer. The pointer is empty if the user leaves the JSON as a whole. */
  onLeave: (pointer: string) => void;
}) {
  const selected = mode ?? "form";
  const listed = [...faults].flatMap(([pointer, messages]) =>
    messages.map((message) => `${pointer} ${message}`.trim()),
  );
  // If the JSON does not fit the form, the page keeps the JSON and shows the reason.
  const stays = selected === "form" && typed.mode === "json" ? formFault(typed) : undefined;
  const shown = stays === undefined ? selected : "json";
  const held = shown === "json" ? toJson(typed) : toForm(typed);
  return (
    <Tabs
      label="Form of the arguments"
      selected={shown}
      onSelect={(id) => {
        if (id === "json") {
          setTyped(toJson(typed));
          onMode("json");
        } else if (formFault(typed) === undefined) {
          setTyped(toForm(typed));
          onMode(undefined);
        }
      }}
      tabs={[
        {
          id: "form",
          words: "Form",
          panel: held.mode === "form" && (
            <Leavable onLeave={onLeave}>
              <Form
                shape={shape}
                values={held.values}
                faults={faults}
                onChange={(values) => setTyped({ mode: "form", values })}
              />
            </Leavable>
          ),
        },
        {
          id: "json",
          words: "JSON",
          panel: (
            <Leavable onLeave={onLeave} pointer="">
              <Stack>
                <AreaField
                  label="Arguments"
                  mono
                  tall
                  value={argumentsText(held)}
                  onChange={(text) => setTyped({ mode: "json", text })}
                  fault={fault}
                  hint={fault === undefined ? formFault(held) : "Fix the JSON to see the form."}
                />
                <GroupFaults faults={listed} />
              </Stack>
            </Leavable>
          ),
        },
      ]}
    />
  );
}

/**
 * Calls `onLeave` when the user leaves a field. Passes the JSON Pointer of the argument that the field sets. `pointer`: the JSON Pointer of
 * the arguments object that the whole form sets.
 */
function Leavable({
  onLeave,
  pointer,
  children,
}: {
  onLeave: (pointer: string) => void;
  pointer?: string;
  children: ReactNode;
}) {
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the div only gets blur events of its fields; users do not press it
    <div
      data-pointer={pointer}
      onBlur={({ target }) => {
        const left = target.closest("[data-pointer]")?.getAttribute("data-pointer") ?? undefined;
        if (left !== undefined) onLeave(left);
      }}
    >
      {children}
    </div>
  );
}
