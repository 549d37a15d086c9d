import type { ExpressionWord, ProgramName } from "@svc/gen/jobs";
import type { ReactNode } from "react";
import { isObject } from "../json/value.ts";
import { classNames } from "../ui/class-names.ts";
import fields from "../ui/fields/field.module.css";
import { inputClass, LabelledField } from "../ui/fields/field.tsx";
import { Menu } from "../ui/overlay/menu.tsx";
import styles from "./builder.module.css";
import { ExpressionField } from "./expression-field.tsx";
import { chipWords, fits, formOf, textParts, withName } from "./values.ts";

/** Properties of the field for a value of a program. The value can be fixed, or it can refer to other values of the program. */
export type ValueFieldProps = {
  label: string;
  value: unknown;
  /** Names that the value can use, with their types. */
  scope: readonly ProgramName[];
  /** The functions, operators and variables that an expression can use. */
  words: readonly ExpressionWord[];
  /** JSON type that the value must have. Empty for any. */
  type: string;
  isRequired?: boolean;
  fault: string | undefined;
  /** Called with the new value. Undefined removes it. */
  onChange: (value: unknown) => void;
  /** Draws the field of a plain value, which refers to nothing. */
  plain: ReactNode;
};

/**
 * Draws the field for a value of a program. A reference is a choice of names, a text shows the values in it as chips (small labels), and an
 * expression is shown as code. The menu "+ value" lists the values that the step can use.
 */
export function ValueField({ plain, ...props }: ValueFieldProps) {
  const form = formOf(props.value);
  return (
    <div className={styles["value"]}>
      {form === "plain" ? plain : <FormField {...props} form={form} />}
      <ValueMenu {...props} />
    </div>
  );
}

function FormField({
  form,
  label,
  value,
  scope,
  words,
  isRequired = false,
  fault,
  onChange,
}: Omit<ValueFieldProps, "plain"> & { form: "ref" | "text" | "cel" }) {
  const written = isObject(value) ? value : {};
  const key = `$${form}`;
  const text = String(written[key]);
  const change = (to: string) => onChange(to === "" && form !== "ref" ? undefined : { ...written, [key]: to });
  const labelled = { label, fault, isRequired };
  if (form === "ref") {
    const names = scope.some(({ name }) => name === text) ? scope : [{ name: text, type: "" }, ...scope];
    return (
      <LabelledField {...labelled}>
        {(shared) => (
          <select
            {...shared}
            className={classNames(inputClass, fields["select"], styles["reference"])}
            value={text}
            onChange={({ target }) => change(target.value)}
          >
            {names.map(({ name, type }) => (
              <option key={name} value={name}>
                {chipWords(name)}
                {type !== "" && ` (${type})`}
              </option>
            ))}
          </select>
        )}
      </LabelledField>
    );
  }
  if (form === "cel")
    return <ExpressionField {...labelled} value={text} known={{ names: scope, words }} onChange={change} />;
  return (
    <LabelledField {...labelled}>
      {(shared) => (
        <div className={styles["text"]}>
          <textarea
            {...shared}
            className={classNames(inputClass, styles["line"])}
            rows={1}
            value={text}
            spellCheck={false}
            onChange={({ target }) => change(target.value)}
          />
          <TextChips template={text} />
        </div>
      )}
    </LabelledField>
  );
}

/** Draws a text with its values as chips. Readers get the text of the field above. */
function TextChips({ template }: { template: string }) {
  return (
    <div className={styles["looks"]} aria-hidden="true">
      {textParts(template).map(({ words, name }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a text have no ids
        <span key={index} className={name === "" ? styles["words"] : styles["chip"]}>
          {words}
        </span>
      ))}
    </div>
  );
}

function ValueMenu({ label, value, scope, type, onChange }: Omit<ValueFieldProps, "plain">) {
  if (scope.length === 0) return null;
  const sorted = [...scope.filter((name) => fits(name.type, type)), ...scope.filter((name) => !fits(name.type, type))];
  return (
    <Menu
      label={`Add a value to ${label}`}
      entries={[
        ...sorted.map(({ name, type: types }) => ({
          id: name,
          words: chipWords(name),
          note: fits(types, type) ? types : `${types}, does not fit ${type}`,
          onPress: () => onChange(withName(value, name)),
        })),
        ...(formOf(value) === "cel"
          ? []
          : [{ id: "$cel", words: "An expression", note: "CEL", onPress: () => onChange({ $cel: "" }) }]),
        ...(formOf(value) === "plain"
          ? []
          : [{ id: "plain", words: "A plain value", onPress: () => onChange(undefined) }]),
      ]}
    >
      + value
    </Menu>
  );
}
