import type { DescMessage, DescMethodUnary, MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import { type ComponentProps, type ReactNode, useRef, useState } from "react";
import { placeFailure } from "../calls/fault.ts";
import { useWrite } from "../calls/write.ts";
import { Button } from "../ui/buttons/button.tsx";
import { AreaField, CheckField, TextField } from "../ui/fields/field.tsx";
import { FormFrame } from "../ui/fields/form-frame.tsx";
import { SelectField } from "../ui/fields/select-field.tsx";
import { FaultNotice } from "../ui/notice/fault.tsx";
import { Dialog } from "../ui/overlay/dialog.tsx";

type Look<Props> = Omit<Props, "label" | "value" | "onChange" | "hint" | "fault">;

/** A field of a dialog: its kind, its label, and further properties of this kind. */
type DialogField = (
  | ({ text: string } & Look<ComponentProps<typeof TextField>>)
  | ({ area: string } & Look<ComponentProps<typeof AreaField>>)
  | ({ select: string } & Look<ComponentProps<typeof SelectField>>)
  | { check: string }
) & {
  hint?: string | ((values: AnyValues) => string);
  /** Returns true if the field is drawn; always drawn by default. */
  when?: (values: AnyValues) => boolean;
};

type AnyValues = Record<string, string | boolean>;
type DialogFields = Record<string, DialogField>;

/** The values that the user has entered in a dialog, by the name of the dialog's field. */
type ValuesOf<Fields extends DialogFields> = {
  [Name in keyof Fields]: Fields[Name] extends { check: string } ? boolean : string;
};

/** Draws a dialog that makes one call. It shows what the call does, its fields, and the call's errors. */
export function WriteDialog<I extends DescMessage, O extends DescMessage, const Fields extends DialogFields>({
  method,
  title,
  fields,
  start,
  request,
  act,
  busy = "Sending",
  kind = "primary",
  keep,
  isTyped = Object.values<DialogField>(fields).some((field) => !("check" in field)),
  placed = [],
  isSecret = false,
  why,
  more,
  done,
  onClose,
  children,
}: {
  method: DescMethodUnary<I, O>;
  title: string;
  fields: Fields;
  /** The initial values of fields. Default: empty texts, and switches that are off. */
  start?: Partial<ValuesOf<Fields>>;
  request: (values: ValuesOf<Fields>) => MessageInitShape<I>;
  /** Label of the button that sends the dialog's API call. */
  act: string;
  busy?: string;
  kind?: "primary" | "danger";
  /**
   * Label of the button that closes the dialog without the call. If it is not set, the dialog has no such button, and the Enter key sends
   * the call.
   */
  keep?: string;
  /**
   * True if a press outside the dialog does not close it, so that the user's input is not lost. Default: true if the dialog has a text
   * field.
   */
  isTyped?: boolean;
  /** Names of the dialog's fields that show the service's errors about them. All other errors are shown below the fields. */
  placed?: readonly (keyof Fields & string)[];
  /** True if the request or the answer has a secret: both are removed from memory when the dialog closes. */
  isSecret?: boolean;
  /** Returns the reason why the call cannot be made yet. Returns undefined if it can be made. */
  why?: (values: ValuesOf<Fields>) => string | undefined;
  /** Returns the next request if one call did not do all. The dialog then makes this call instead of calling `done`. */
  more?: (answer: MessageShape<O>) => MessageInitShape<I> | undefined;
  /** Called with the answer when the call succeeded. It announces the result, closes the dialog, and reads again the data that changed. */
  done: (answer: MessageShape<O>, values: ValuesOf<Fields>) => unknown;
  onClose: () => void;
  children?: ReactNode;
}) {
  const [values, setValues] = useState(() => ({ ...emptyOf(fields), ...start }) as ValuesOf<Fields>);
  const following = useRef<MessageInitShape<I>>(undefined);
  const write = useWrite(method, {
    onSuccess: (answer) => {
      following.current = more?.(answer);
      return following.current === undefined ? done(answer, values) : undefined;
    },
    isSecret,
  });
  const sendAll = async () => {
    let next: MessageInitShape<I> | undefined = request(values);
    while (next !== undefined) {
      await write.sendAsync(next);
      next = following.current;
    }
  };
  // The rejection is ignored, because `write.error` has the error and the dialog shows it.
  const send = () => void sendAll().catch(() => {});
  const isBusy = write.isSending ? busy : undefined;
  const { at, rest } = placeFailure<string>(write.error, placed);
  const content = (
    <>
      {children}
      {Object.entries<DialogField>(fields).map(([name, field]) => (
        <Field
          key={name}
          name={name}
          field={field}
          values={values}
          fault={at[name]}
          onChange={(value) => setValues({ ...values, [name]: value })}
        />
      ))}
      <FaultNotice error={rest} />
    </>
  );
  const dialog = { open: true, onClose, title, hideOnInteractOutside: !isTyped };
  if (keep === undefined) {
    return (
      <Dialog {...dialog}>
        <FormFrame onSubmit={send}>
          {content}
          <Button kind={kind} type="submit" why={why?.(values)} busy={isBusy}>
            {act}
          </Button>
        </FormFrame>
      </Dialog>
    );
  }
  return (
    <Dialog
      {...dialog}
      actions={
        <>
          <Button onPress={onClose}>{keep}</Button>
          <Button kind={kind} why={why?.(values)} busy={isBusy} onPress={send}>
            {act}
          </Button>
        </>
      }
    >
      {content}
    </Dialog>
  );
}

function emptyOf(fields: DialogFields): AnyValues {
  return Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, "check" in field ? false : ""]));
}

function Field({
  name,
  field: { hint, when, ...field },
  values,
  fault,
  onChange,
}: {
  name: string;
  field: DialogField;
  values: AnyValues;
  fault: string | undefined;
  onChange: (value: string | boolean) => void;
}) {
  if (when !== undefined && !when(values)) return null;
  const shared = { onChange, ...(hint !== undefined && { hint: typeof hint === "string" ? hint : hint(values) }) };
  if ("check" in field) return <CheckField {...shared} label={field.check} checked={values[name] === true} />;
  const value = String(values[name]);
  if ("area" in field) {
    const { area, ...look } = field;
    return <AreaField {...look} {...shared} fault={fault} label={area} value={value} />;
  }
  if ("select" in field) {
    const { select, ...look } = field;
    return <SelectField {...look} {...shared} fault={fault} label={select} value={value} />;
  }
  const { text, ...look } = field;
  return <TextField {...look} {...shared} fault={fault} label={text} value={value} />;
}
